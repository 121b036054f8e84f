import { clientError, openRegistry } from '@runnel/client'
import {
  RpcError,
  RpcRoute,
  rpcSecrets,
  type RegistryAddresses,
  type RpcEndpoints,
  type RpcSecrets,
} from '@runnel/contracts'
import { isRunnelError, toNodeId } from '@runnel/protocol'
import { isError, Wallet, type JsonRpcProvider } from '@runnel/contracts/ethers'
import { nodeError } from '../errors.ts'
import type { DescribedNetwork } from './network-source.ts'

/** Runs some work with a wallet on a chain, after making sure that the chain answers. Throws CHAIN_UNREACHABLE, CHAIN_DISPUTED, CHAIN_MISMATCH or INSUFFICIENT_FUNDS. */
export async function withWallet<T>(
  chain: ChainPlace,
  privateKey: string,
  work: (wallet: Wallet, chainId: number) => Promise<T>,
): Promise<T> {
  return withProvider(chain, async (provider, chainId) => {
    const wallet = new Wallet(`0x${privateKey}`, provider)
    try {
      return await work(wallet, chainId)
    } catch (error) {
      if (!isError(error, 'INSUFFICIENT_FUNDS')) throw error
      // Not with its cause, which may name the endpoint with its secrets.
      throw nodeError('INSUFFICIENT_FUNDS', toNodeId(wallet.address))
    }
  })
}

/** Where a chain is asked, and which one it should be. */
export interface ChainPlace extends RpcEndpoints {
  readonly chainId?: number | undefined
}

/** Runs some work with read access to a chain, after making sure that it answers. Throws CHAIN_UNREACHABLE, CHAIN_DISPUTED or CHAIN_MISMATCH. */
export async function withProvider<T>(
  chain: ChainPlace,
  work: (provider: JsonRpcProvider, chainId: number) => Promise<T>,
): Promise<T> {
  const secrets = rpcSecrets(chain.rpcUrl)
  try {
    const route = new RpcRoute(chain)
    try {
      return await workOn(route, await askChainId(route, secrets), work)
    } finally {
      route.close()
    }
  } catch (error) {
    if (error instanceof RpcError) throw clientError(error.code, error.message)
    throw isRunnelError(error) ? error : secrets.scrubError(error)
  }
}

async function workOn<T>(
  route: RpcRoute,
  chainId: number,
  work: (provider: JsonRpcProvider, chainId: number) => Promise<T>,
): Promise<T> {
  const provider = route.provider(chainId)
  try {
    return await work(provider, chainId)
  } finally {
    provider.destroy()
  }
}

/** The id of a network's chain, as its file says, else as the chain does; 0 where it names none. */
export async function chainIdOf(network: DescribedNetwork): Promise<number> {
  if (network.kind === 'static') return network.document.chainId ?? 0
  if (network.kind === 'document') {
    const registry = await openRegistry({ network })
    await registry.stop()
    return registry.chainId
  }
  return network.chainId ?? (await withProvider(network, async (_, chainId) => chainId))
}

async function askChainId(route: RpcRoute, { shown, scrubError }: RpcSecrets): Promise<number> {
  try {
    return await route.askChainId()
  } catch (error) {
    if (error instanceof RpcError) throw error
    const cause = scrubError(error)
    throw clientError('CHAIN_UNREACHABLE', `${shown} (${reasonOf(cause)})`, { cause })
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? error.cause.message : error.message
}

/** The registries as a network file holds them. */
export function networkFileOf(
  rpcUrl: string | readonly string[],
  chainId: number,
  registries: RegistryAddresses,
): string {
  return `${JSON.stringify({ version: 1, chain: { rpcUrl, chainId, registries } }, undefined, 2)}\n`
}
