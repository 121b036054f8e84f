import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { namePositional, noSuchReader } from './reader-show.ts'
import { readerStart } from './subscribe-reader.ts'

export const readerReset = defineCommand({
  name: 'reader reset',
  describe: 'Move a durable reader of the user to another position in a stream',
  positionals: { stream: streamPositional, name: namePositional },
  options: {
    ...userOptions,
    start: {
      type: 'string',
      default: 'first',
      describe: 'first, new, or a time: ISO 8601, Unix milliseconds, or -10m',
    },
    create: { type: 'boolean', default: false, describe: 'Create the reader if there is none of that name' },
  },
  examples: [['reader reset 0xowner/lobby billing --start -1h --key my.key', 'Reads the last hour again']],
  epilogue:
    'Processes that read under that name continue from there. The command ends when a storage node has stored the position.',
  run: async ({ stream, name, start, create, json, ...network }) => {
    const streamOf = streamArgument(stream)
    const from = readerStart(start)
    await withClient(network, { needsUser: true }, async (client) => {
      const streamId = streamOf(client)
      if (!create && (await client.readerState(streamId, name)) === undefined)
        throw noSuchReader(name, streamId)
      await client.resetReader(streamId, name, from)
      printResult({ streamId, name }, json, [`${name} reads ${streamId} from there`])
    })
  },
})
