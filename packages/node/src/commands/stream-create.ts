import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { encryptionOptions, metadataWith } from './encryption-options.ts'

export const streamCreate = defineCommand({
  name: 'stream create',
  describe: 'Create a stream, owned by your key',
  positionals: {
    stream: {
      describe: 'Path such as /sensors/kitchen; the id becomes 0xyou/sensors/kitchen',
      required: true,
    },
  },
  options: {
    ...userOptions,
    partitions: { type: 'number', requiresArg: true, default: 1, describe: 'Partitions, 1 to 100' },
    metadata: {
      type: 'string',
      requiresArg: true,
      describe:
        'Free text, by convention JSON; its field overlay is a strategy of trackers, or {strategy, degree}',
    },
    ...encryptionOptions,
    tracker: {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'Node id of a tracker of its own; may be repeated',
    },
  },
  examples: [
    ['stream create /sensors/kitchen --network network.json --key my.key', 'Prints the stream id'],
    [
      'stream create /team --history none --key-holder me --network network.json --key my.key',
      'New readers read what comes later; one process has the keys for all publishers',
    ],
  ],
  epilogue:
    'A stream is encrypted as long as not everybody may subscribe: what is published goes to those who were granted it. The flags from --encrypt on are written into the metadata, field encryption.',
  run: async ({ stream, partitions, metadata: text, tracker, json, ...args }) => {
    const streamOf = streamArgument(stream)
    await withClient(args, { needsKey: true }, async (client) => {
      const metadata = metadataWith(text, args, client.account)
      const created = await client.createStream({
        id: streamOf(client),
        partitions,
        ...(metadata === undefined ? {} : { metadata }),
        ...(tracker === undefined ? {} : { trackers: tracker }),
      })
      printResult(created, json, [created.id])
    })
  },
})
