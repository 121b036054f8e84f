import { accessSync, constants, existsSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { deployRegistries } from '@runnel/contracts'
import { toNodeId } from '@runnel/protocol'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { notice, printResult } from '../cli/output.ts'
import { networkFileOf, withWallet } from '../cli/with-chain.ts'
import { nodeError } from '../errors.ts'
import { requireKey } from '../keys/resolve-key.ts'

export const registryDeploy = defineCommand({
  name: 'registry deploy',
  describe: 'Deploy the three registries on a chain and write a network file',
  options: {
    key: networkOptions.key,
    'rpc-url': {
      type: 'string',
      array: true,
      demandOption: true,
      describe: 'JSON-RPC endpoint of the chain; may be repeated for further endpoints of the same chain',
    },
    permissioned: {
      type: 'boolean',
      default: false,
      describe: 'Make a private network: only listed nodes may take part',
    },
    owner: {
      type: 'string',
      describe: 'Owner of the tracker registry, such as a multisig contract. Default: the account of the key',
    },
    out: { type: 'string', default: 'network.json', describe: 'Network file to write' },
    force: { type: 'boolean', default: false, describe: 'Replace an existing network file' },
  },
  examples: [
    [
      'registry deploy --rpc-url http://127.0.0.1:8545 --key owner.key',
      'Writes network.json; owner.key owns the tracker registry',
    ],
    [
      'registry deploy --permissioned --owner 0x5b38…ddc4 --rpc-url http://127.0.0.1:8545 --key any.key',
      'A private network owned by a consortium',
    ],
  ],
  epilogue:
    'The account of the key pays. List the nodes of a private network with: runnel registry allow-node.',
  run: async ({ key, 'rpc-url': rpcUrls, permissioned, owner: givenOwner, out, force, json }) => {
    const privateKey = requireKey({ key, env: process.env })
    const owner = givenOwner === undefined ? undefined : toNodeId(givenOwner)
    checkWritable(out, force)
    const rpcUrl = rpcUrls.length === 1 ? (rpcUrls[0] ?? '') : rpcUrls
    await withWallet({ rpcUrl }, privateKey, async (wallet, chainId) => {
      const registries = await deployRegistries(wallet, { permissioned, owner })
      try {
        writeFileSync(out, networkFileOf(rpcUrl, chainId, registries), { flag: force ? 'w' : 'wx' })
      } catch (cause) {
        // Paid for: their addresses must not be lost.
        notice(`deployed: ${JSON.stringify(registries)}`)
        throw nodeError('FILE_UNWRITABLE', `${out} (${(cause as Error).message})`, { cause })
      }
      printResult({ file: out, chainId, registries }, json, [
        ...Object.entries(registries).map(([name, address]) => `${name.padEnd(16)} ${address}`),
        `network file     ${out}`,
      ])
    })
  },
})

/** Before anything is paid for. Throws FILE_EXISTS or FILE_UNWRITABLE. */
function checkWritable(file: string, force: boolean): void {
  if (existsSync(file) && !force) throw nodeError('FILE_EXISTS', file)
  try {
    accessSync(existsSync(file) ? file : dirname(file), constants.W_OK)
  } catch (cause) {
    throw nodeError('FILE_UNWRITABLE', file, { cause })
  }
}
