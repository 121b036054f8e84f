import { untilMined } from '@runnel/contracts'
import { developmentKeys } from '@runnel/contracts/anvil'
import { toNodeId } from '@runnel/protocol'
import { formatEther, parseEther } from '@runnel/contracts/ethers'
import { defineCommand } from '../cli/command.ts'
import { networkOptions } from '../cli/common-options.ts'
import { readChain } from '../cli/network-source.ts'
import { printResult } from '../cli/output.ts'
import { withWallet } from '../cli/with-chain.ts'
import { nodeError } from '../errors.ts'

/** Of anvil and of hardhat. */
const developmentChainId = 31_337

export const chainFund = defineCommand({
  name: 'chain fund',
  describe: 'Fund accounts on a development chain',
  positionals: { addresses: { describe: 'Addresses of accounts', required: true, many: true } },
  options: {
    network: networkOptions.network,
    'rpc-url': {
      type: 'string',
      array: true,
      describe: 'JSON-RPC endpoint of the chain, instead of --network; may be repeated',
    },
    amount: {
      type: 'string',
      default: '10',
      describe: 'Amount for each account, in ether',
    },
  },
  examples: [
    ['chain fund 0x5b38…ddc4 --rpc-url http://127.0.0.1:8545', '10 ether from the first account of anvil'],
  ],
  epilogue: 'Works only on chains with id 31337 (anvil), where the key of the paying account is public.',
  run: async ({ addresses, network, 'rpc-url': given, amount, json }) => {
    const accounts = addresses.map(toNodeId)
    const value = parseAmount(amount)
    const chain = given === undefined ? readChain(network) : { rpcUrl: given }
    const [payer = ''] = developmentKeys()
    await withWallet(chain, payer.slice(2), async (wallet, chainId) => {
      if (chainId !== developmentChainId) throw nodeError('CHAIN_NOT_DEVELOPMENT', `its id is ${chainId}`)
      const funded: { address: string; balance: string }[] = []
      for (const address of accounts) {
        await untilMined(await wallet.sendTransaction({ to: address, value }))
        funded.push({ address, balance: formatEther((await wallet.provider?.getBalance(address)) ?? 0n) })
      }
      printResult(
        { funded },
        json,
        funded.map(({ address, balance }) => `${address} has ${balance} ether`),
      )
    })
  },
})

/** In wei. Throws USAGE. */
function parseAmount(text: string): bigint {
  if (!/^\d{1,6}(\.\d{1,18})?$/.test(text))
    throw nodeError('USAGE', `--amount takes ether, such as 0.5, not "${text}"`)
  return parseEther(text)
}
