import { storageRegistry, untilMined } from '@runnel/contracts'
import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { withWallet } from '../cli/with-chain.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const registryRemoveStorage = defineCommand({
  name: 'registry remove-storage',
  describe: 'Remove a storage node from the registry',
  options: networkOptions,
  examples: [['registry remove-storage --network network.json --key storage.key', 'With its own key']],
  epilogue:
    'A storage node removes itself: use the key of the node. Its streams are no longer assigned to it; what it has on disk stays.',
  run: async ({ network, key, json }) => {
    const chain = readChain(network)
    await withWallet(chain, requireKey({ key, env: process.env }), async (wallet) => {
      await untilMined(await storageRegistry(chain.registries.storageRegistry, wallet).removeNode())
      const nodeId = toNodeId(wallet.address)
      printResult({ nodeId, removed: true }, json, [`removed ${nodeId}`])
    })
  },
})
