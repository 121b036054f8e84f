import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { withClient } from '../cli/with-client.ts'

export const streamList = defineCommand({
  name: 'stream list',
  describe: 'Print the ids of streams',
  options: {
    ...userOptions,
    owner: { type: 'string', requiresArg: true, describe: 'Only streams of this address' },
  },
  examples: [['stream list --network network.json', 'A line for each stream']],
  run: async ({ owner, json, ...network }) => {
    const filter = owner === undefined ? {} : { owner: toNodeId(owner) }
    await withClient(network, {}, async (client) => {
      const streams = await client.listStreams(filter)
      printResult(
        streams,
        json,
        streams.map(({ id }) => id),
      )
    })
  },
})
