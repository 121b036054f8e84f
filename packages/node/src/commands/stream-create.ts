import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'

export const streamCreate = defineCommand({
  name: 'stream create',
  describe: 'Create a stream, owned by your key',
  positionals: {
    path: { describe: 'Path such as sensors/kitchen; its id becomes 0xyou/path', required: true },
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
    tracker: {
      type: 'string',
      array: true,
      requiresArg: true,
      describe: 'Node id of a tracker of its own; may be repeated',
    },
  },
  examples: [['stream create sensors/kitchen --network network.json --key my.key', 'Prints the stream id']],
  run: async ({ path, partitions, metadata, tracker, json, ...network }) => {
    await withClient(network, { needsKey: true }, async (client) => {
      const stream = await client.createStream({
        ...(path.startsWith('0x') && path.includes('/') ? { id: path } : { path }),
        partitions,
        ...(metadata === undefined ? {} : { metadata }),
        ...(tracker === undefined ? {} : { trackers: tracker }),
      })
      printResult(stream, json, [stream.id])
    })
  },
})
