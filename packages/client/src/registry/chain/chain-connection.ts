import {
  RpcRoute,
  rpcSecrets,
  type RegistryAddresses,
  type RpcEndpoints,
  type RpcModules,
  type RpcSecrets,
  type RpcStatus,
} from '@runnel/contracts'
import type { JsonRpcProvider } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { RegistryHealth } from '../ports.ts'
import { translateChainError } from './chain-errors.ts'

/** Where the registries of a network stand. */
export interface ChainAddress extends RpcEndpoints {
  /** Asked of the endpoint when absent. */
  readonly chainId?: number | undefined
  readonly registries: RegistryAddresses
}

/** The way to a chain, and whether it answers. */
export class ChainConnection {
  readonly provider: JsonRpcProvider
  /** What the endpoints said that they serve. */
  readonly chainId: number
  /** The endpoints' URLs without secrets, and a filter that keeps the secrets out of errors. */
  readonly secrets: RpcSecrets
  /** Hears of every change between reachable and unreachable. */
  onHealth: (health: RegistryHealth) => void = () => {}
  readonly #route: RpcRoute
  #reachable = true
  #closed = false

  constructor(route: RpcRoute, chainId: number, secrets: RpcSecrets) {
    this.provider = route.provider(chainId)
    this.chainId = chainId
    this.secrets = secrets
    this.#route = route
  }

  /** How each of several endpoints does; none where there is one only. */
  get endpoints(): readonly RpcStatus[] {
    return this.#route.statuses
  }

  get source(): string {
    return this.secrets.shown
  }

  /** Runs a request, throws errors of ours only, and notes whether the endpoint answered. */
  async call<T>(request: () => Promise<T>): Promise<T> {
    if (this.#closed) throw clientError('CLIENT_CLOSED')
    try {
      const result = await request()
      this.#setReachable()
      return result
    } catch (cause) {
      if (this.#closed)
        throw clientError('CLIENT_CLOSED', undefined, { cause: this.secrets.scrubError(cause) })
      const error = translateChainError(cause, this.secrets)
      if (error.code === 'CHAIN_UNREACHABLE' || error.code === 'CHAIN_DISPUTED') this.#setUnreachable(error)
      else this.#setReachable()
      throw error
    }
  }

  /** Cancels pending requests. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.provider.destroy()
    this.#route.close()
  }

  #setReachable(): void {
    if (this.#reachable) return
    this.#reachable = true
    this.onHealth({ state: 'reachable', source: this.source })
  }

  #setUnreachable(error: Error): void {
    if (!this.#reachable) return
    this.#reachable = false
    this.onHealth({ state: 'unreachable', source: this.source, error })
  }
}

/**
 * Connects, and checks the chain and that the registries are there. Throws CHAIN_UNREACHABLE, CHAIN_DISPUTED, CHAIN_MISMATCH or
 * REGISTRY_MISSING.
 */
export async function openChainConnection(
  address: ChainAddress,
  modules: RpcModules = {},
): Promise<ChainConnection> {
  const { rpcUrl, chainId, registries } = address
  const secrets = rpcSecrets(rpcUrl)
  const route = openRoute(address, modules)
  try {
    const servedId = await route.askChainId().catch((error: unknown) => {
      throw translateChainError(error, secrets)
    })
    if (chainId !== undefined && chainId !== servedId)
      throw clientError('CHAIN_MISMATCH', `${secrets.shown} serves ${servedId}, configured is ${chainId}`)
    const connection = new ChainConnection(route, servedId, secrets)
    await requireContracts(connection, registries).catch((error: unknown) => {
      connection.close()
      throw error
    })
    return connection
  } catch (error) {
    route.close()
    throw error
  }
}

function openRoute(address: ChainAddress, modules: RpcModules): RpcRoute {
  try {
    return new RpcRoute(address, modules)
  } catch (error) {
    throw translateChainError(error, rpcSecrets(address.rpcUrl))
  }
}

async function requireContracts(connection: ChainConnection, registries: RegistryAddresses): Promise<void> {
  const missing = await Promise.all(
    Object.entries(registries).map(async ([name, address]: [string, string]) => {
      const code = await connection.call(() => connection.provider.getCode(address))
      return code === '0x' ? `${name} ${address}` : undefined
    }),
  )
  const found = missing.filter((entry) => entry !== undefined)
  if (found.length > 0) throw clientError('REGISTRY_MISSING', `${found.join(', ')} at ${connection.source}`)
}
