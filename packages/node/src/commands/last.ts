import { defineCommand } from '../cli/command.ts'
import { memberOptions } from '../cli/common-options.ts'
import { standardOutput } from '../cli/output.ts'
import { listenForStop } from '../cli/stop-signal.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { nodeError } from '../errors.ts'
import { formatMessage } from './format-message.ts'
import { formatOptions, resendOptions } from './resend-options.ts'

export const last = defineCommand({
  name: 'last',
  describe: 'Print the newest message of a key, or of a stream, as a JSON value',
  positionals: { stream: streamPositional },
  options: {
    ...memberOptions,
    ...formatOptions,
    'message-key': { type: 'string', describe: 'Only of this key. Default: of all' },
    partition: resendOptions.partition,
    from: {
      choices: ['neighbours', 'storage'],
      describe: 'Whom to ask. Default: neighbours, then storage nodes if they know none',
    },
    'timeout-ms': {
      type: 'number',
      default: 5_000,
      describe: 'How long to wait, in milliseconds',
    },
  },
  examples: [
    ['last /sensors', 'What came last'],
    ['last /sensors --message-key kitchen --meta', 'The newest message of a key, with its publisher'],
  ],
  epilogue:
    'The message is verified. Neighbours know the messages of the last 30 s, and more if the metadata of the stream has "lastValues": true. Exits with 1 if nobody knows a message, or its key was removed.',
  run: async ({ stream, 'message-key': key, partition, from, 'timeout-ms': timeoutMs, ...args }) => {
    const streamOf = streamArgument(stream)
    const { raw = false, meta = false } = args
    const stop = listenForStop()
    const output = standardOutput()
    await withClient(args, {}, async (client) => {
      const { signal } = stop
      const streamId = streamOf(client)
      const found = await client.last(streamId, { key, partition, from, timeoutMs, raw, signal })
      if (found === undefined)
        throw nodeError('NO_LAST_VALUE', key === undefined ? streamId : `${key} in ${streamId}`)
      const bytes = raw && found.content instanceof Uint8Array ? found.content : formatMessage(found, meta)
      await output.write(bytes)
    })
    stop.release()
  },
})
