import { storageRegistry } from '@runnel/contracts'
import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { withWallet } from '../cli/with-chain.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const registryRemoveStorage = defineCommand({
  name: 'registry remove-storage',
  describe: 'Take a storage node out of the registry',
  options: networkOptions,
  examples: [['registry remove-storage --network network.json --key storage.key', 'With its own key']],
  epilogue:
    'A storage node takes itself out: the key is that of the node. Streams assigned to it are so no longer; what it has on its disk stays.',
  run: async ({ network, key, json }) => {
    const chain = readChain(network)
    await withWallet(chain, requireKey({ key, env: process.env }), async (wallet) => {
      await (await storageRegistry(chain.registries.storageRegistry, wallet).removeNode()).wait()
      const nodeId = toNodeId(wallet.address)
      printResult({ nodeId, removed: true }, json, [`removed ${nodeId}`])
    })
  },
})
