import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { nodeList, readNodes } from '../cli/node-list.ts'
import { printResult } from '../cli/output.ts'
import { withProvider } from '../cli/with-chain.ts'

export const registryListNodes = defineCommand({
  name: 'registry list-nodes',
  describe: 'Print the nodes that may take part in a private network',
  options: { network: networkOptions.network },
  examples: [['registry list-nodes --network network.json', 'A line for each node']],
  run: async ({ network, json }) => {
    const chain = readChain(network)
    const { registries } = chain
    await withProvider(chain, async (provider) => {
      const list = await nodeList(registries.trackerRegistry, provider)
      const nodeIds = await readNodes(list, await provider.getBlockNumber())
      printResult({ nodeIds }, json, nodeIds)
    })
  },
})
