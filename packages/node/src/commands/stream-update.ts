import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument, streamPositional } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'
import { encryptionOptions, updatedMetadata } from './encryption-options.ts'

export const streamUpdate = defineCommand({
  name: 'stream update',
  describe: 'Change the partitions, metadata or trackers of a stream; everything else stays as it is',
  positionals: { stream: streamPositional },
  options: {
    ...userOptions,
    partitions: { type: 'number', describe: 'Partitions, 1 to 100' },
    metadata: { type: 'string', describe: 'The complete new metadata' },
    ...encryptionOptions,
    tracker: {
      type: 'string',
      array: true,
      describe: 'Node id of a tracker for this stream only; may be repeated. Replaces the previous list',
    },
  },
  examples: [
    ['stream update /sensors --partitions 10 --network network.json --key my.key', ''],
    ['stream update /team --history none --network network.json --key my.key', 'Other metadata stays'],
  ],
  epilogue:
    'Needs the edit permission. Messages are not moved: after a change of partitions, a partition key may map to another partition.',
  run: async ({ stream, partitions, metadata: text, tracker: trackers, json, ...args }) => {
    const streamOf = streamArgument(stream)
    await withClient(args, { needsKey: true }, async (client) => {
      const id = streamOf(client)
      const before = await client.getStream(id)
      const metadata = updatedMetadata(text, args, before.metadata, client.account)
      await client.updateStream(id, { partitions, metadata, trackers })
      const updated = await client.getStream(id)
      printResult(updated, json, [`updated ${id}`])
    })
  },
})
