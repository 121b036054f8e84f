import { trackerRegistry, untilMined } from '@runnel/contracts'
import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { withWallet } from '../cli/with-chain.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const registryRemoveTracker = defineCommand({
  name: 'registry remove-tracker',
  describe: 'Remove a tracker from the network',
  positionals: { tracker: { describe: 'Node id of the tracker', required: true } },
  options: networkOptions,
  examples: [['registry remove-tracker 0x5b38…ddc4 --network network.json --key owner.key', '']],
  epilogue:
    'Only the owner of the tracker registry can do this. Overlays that the tracker built keep working without it.',
  run: async ({ tracker, network, key, json }) => {
    const nodeId = toNodeId(tracker)
    const chain = readChain(network)
    const { registries } = chain
    await withWallet(chain, requireKey({ key, env: process.env }), async (wallet) => {
      const registry = trackerRegistry(registries.trackerRegistry, wallet)
      await untilMined(await registry.removeTracker(nodeId))
      printResult({ nodeId, removed: true }, json, [`removed ${nodeId}`])
    })
  },
})
