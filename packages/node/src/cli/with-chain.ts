import { clientError } from '@runnel/client'
import { rpcSecrets, type RegistryAddresses, type RpcSecrets } from '@runnel/contracts'
import { isRunnelError } from '@runnel/protocol'
import { JsonRpcProvider, Wallet } from '@runnel/contracts/ethers'
import type { DescribedNetwork } from './network-source.ts'

/** How long a chain may take to answer. */
const chainTimeoutMs = 10_000

/** Runs some work with a wallet on a chain, after making sure that the chain answers. Throws CHAIN_UNREACHABLE. */
export async function withWallet<T>(
  rpcUrl: string,
  privateKey: string,
  work: (wallet: Wallet, chainId: number) => Promise<T>,
): Promise<T> {
  return withProvider(rpcUrl, (provider, chainId) => work(new Wallet(`0x${privateKey}`, provider), chainId))
}

/** Runs some work with read access to a chain, after making sure that it answers. Throws CHAIN_UNREACHABLE. */
export async function withProvider<T>(
  rpcUrl: string,
  work: (provider: JsonRpcProvider, chainId: number) => Promise<T>,
): Promise<T> {
  const secrets = rpcSecrets(rpcUrl)
  const chainId = await askChainId(rpcUrl, secrets)
  // A chain that makes a block of every transaction at once would be read from a cache as it was before.
  const provider = new JsonRpcProvider(rpcUrl, chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    polling: true,
  })
  provider.pollingInterval = 250
  try {
    return await work(provider, chainId)
  } catch (error) {
    throw isRunnelError(error) ? error : secrets.scrubError(error)
  } finally {
    provider.destroy()
  }
}

/** The id of a network's chain, as its file says, else as the chain does; 0 where it names none. */
export async function chainIdOf(network: DescribedNetwork): Promise<number> {
  if (network.kind === 'static') return network.document.chainId ?? 0
  return network.chainId ?? (await askChainId(network.rpcUrl, rpcSecrets(network.rpcUrl)))
}

/** Asked by hand: the provider of ethers would go on trying for ever. */
async function askChainId(rpcUrl: string, { shown, scrubError }: RpcSecrets): Promise<number> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }),
      signal: AbortSignal.timeout(chainTimeoutMs),
    })
    const { result } = (await response.json()) as { result?: unknown }
    const chainId = Number(result)
    if (!Number.isSafeInteger(chainId) || chainId <= 0) throw new Error('the answer is no chain id')
    return chainId
  } catch (error) {
    const cause = scrubError(error)
    throw clientError('CHAIN_UNREACHABLE', `${shown} (${reasonOf(cause)})`, { cause })
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}

/** The registries as a network file holds them. */
export function networkFileOf(rpcUrl: string, chainId: number, registries: RegistryAddresses): string {
  return `${JSON.stringify({ version: 1, chain: { rpcUrl, chainId, registries } }, undefined, 2)}\n`
}
