import { defineCommand } from '../cli/command.ts'
import { userOptions } from '../cli/common-options.ts'
import { printResult } from '../cli/output.ts'
import { streamArgument } from '../cli/stream-argument.ts'
import { withClient } from '../cli/with-client.ts'

export const storageList = defineCommand({
  name: 'storage list',
  describe: 'Print the storage nodes of a stream, or all registered ones',
  positionals: {
    stream: {
      describe: 'Stream id: 0xowner/path, or /path for a stream of your own. Default: all storage nodes',
    },
  },
  options: userOptions,
  examples: [
    ['storage list --network network.json', 'A line for each storage node'],
    ['storage list 0xowner/lobby --network network.json', 'The storage nodes of that stream'],
  ],
  run: async ({ stream, json, ...network }) => {
    const streamOf = stream === undefined ? undefined : streamArgument(stream)
    await withClient(network, {}, async (client) => {
      const nodes =
        streamOf === undefined
          ? await client.listStorageNodes()
          : await client.getStorageNodes(streamOf(client))
      printResult(
        nodes,
        json,
        nodes.map(({ nodeId, url }) => `${nodeId} ${url}`),
      )
    })
  },
})
