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
      describe: 'Path, such as /sensors/kitchen; the stream id is then 0xyou/sensors/kitchen',
      required: true,
    },
  },
  options: {
    ...userOptions,
    partitions: { type: 'number', default: 1, describe: 'Partitions, 1 to 100' },
    metadata: {
      type: 'string',
      describe:
        'Free text, by convention JSON. The field overlay sets the strategy of trackers, or {strategy, degree}',
    },
    ...encryptionOptions,
    tracker: {
      type: 'string',
      array: true,
      describe: 'Node id of a tracker for this stream only; may be repeated',
    },
  },
  examples: [
    ['stream create /sensors/kitchen --network network.json --key my.key', 'Prints the stream id'],
    [
      'stream create /team --history none --key-holder me --network network.json --key my.key',
      'New readers can read later messages only; one user holds the keys of all publishers',
    ],
  ],
  epilogue:
    'A stream is encrypted unless everybody may subscribe: only users with the permission can read it. The encryption flags are written to the field encryption of the metadata.',
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
