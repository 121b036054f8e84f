import { listsNodes, permissionedTrackerRegistry, textOf, trackerRegistry } from '@runnel/contracts'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { withProvider } from '../cli/with-chain.ts'

/** Trackers read from the chain at once. */
const pageSize = 100

export const registryShow = defineCommand({
  name: 'registry show',
  describe: 'Print the registries of a network and the trackers in them',
  options: { network: networkOptions.network },
  examples: [['registry show --network .runnel/up/network.json', 'Addresses, and a line for each tracker']],
  run: async ({ network, json }) => {
    const chain = readChain(network)
    const { registries } = chain
    await withProvider(chain, async (provider, chainId) => {
      const blockTag = await provider.getBlockNumber()
      const registry = trackerRegistry(registries.trackerRegistry, provider)
      const count = Number(await registry.trackerCount({ blockTag }))
      const trackers: { nodeId: string; url: string }[] = []
      while (trackers.length < count) {
        const page = await registry.listTrackers(trackers.length, pageSize, { blockTag })
        trackers.push(
          ...page.map((entry) => ({ nodeId: entry.tracker.toLowerCase(), url: textOf(() => entry.url) })),
        )
      }
      const owner = (await registry.owner({ blockTag })).toLowerCase()
      const isPrivate = await listsNodes(registries.trackerRegistry, provider)
      const list = permissionedTrackerRegistry(registries.trackerRegistry, provider)
      const listedNodes = isPrivate ? Number(await list.nodeCount({ blockTag })) : undefined
      printResult({ chainId, registries, owner, listedNodes, trackers }, json, [
        `chain            ${chainId}`,
        ...Object.entries(registries).map(([name, address]) => `${name.padEnd(16)} ${address}`),
        `owner            ${owner}`,
        ...(listedNodes === undefined ? [] : [`listed nodes     ${listedNodes}`]),
        ...trackers.map(({ nodeId, url }) => `tracker          ${nodeId} ${url}`),
      ])
    })
  },
})
