import {
  JsonRpcProvider,
  type FetchRequest,
  type JsonRpcApiProviderOptions,
  type JsonRpcError,
  type JsonRpcPayload,
  type JsonRpcResult,
} from '@runnel/contracts/ethers'
import { MonotonicProvider } from './monotonic-provider.ts'
import type { RpcStatus } from './rpc-endpoint.ts'
import { RpcError } from './rpc-error.ts'
import { RpcPool } from './rpc-pool.ts'
import { rpcRequest } from './rpc-request.ts'

/** Where a chain is asked. */
export interface RpcEndpoints {
  /** One or more endpoints of the same chain, the preferred first. */
  readonly rpcUrl: string | readonly string[]
  /** How many have to agree on what is read. Default 2 where there are three or more, else 1. */
  readonly rpcQuorum?: number | undefined
}

export interface RpcModules {
  /** Milliseconds of a clock that never goes backwards. Default the platform's. */
  readonly monotonicMs?: (() => number) | undefined
  /** Hears of every change of how one of several endpoints does. */
  readonly onEndpoint?: ((status: RpcStatus) => void) | undefined
}

/** ethers' own limit, less what is asked besides. */
const maxBatchRequests = 98

export function rpcUrlsOf({ rpcUrl }: Pick<RpcEndpoints, 'rpcUrl'>): readonly string[] {
  return typeof rpcUrl === 'string' ? [rpcUrl] : rpcUrl
}

/** How many endpoints have to agree. */
export function quorumOf({ rpcUrl, rpcQuorum }: RpcEndpoints): number {
  return rpcQuorum ?? (rpcUrlsOf({ rpcUrl }).length >= 3 ? 2 : 1)
}

/** The way to a chain: to one endpoint, or to several as one. */
export class RpcRoute {
  readonly #endpoints: RpcEndpoints
  readonly #monotonicMs: () => number
  readonly #pool: RpcPool | undefined

  /** Throws RpcError where more are to agree than there are. */
  constructor(endpoints: RpcEndpoints & { readonly chainId?: number | undefined }, modules: RpcModules = {}) {
    const { chainId } = endpoints
    const { monotonicMs = () => performance.now(), onEndpoint = () => {} } = modules
    const urls = rpcUrlsOf(endpoints)
    const quorum = quorumOf(endpoints)
    if (quorum > urls.length)
      throw new RpcError('INVALID_CONFIG', `rpcQuorum: ${quorum} cannot agree where there are ${urls.length}`)
    this.#endpoints = endpoints
    this.#monotonicMs = monotonicMs
    this.#pool =
      urls.length > 1
        ? new RpcPool({ urls, quorum, chainId }, { monotonicMs, onChange: onEndpoint })
        : undefined
  }

  /** How each of several endpoints does; none where there is one only. */
  get statuses(): readonly RpcStatus[] {
    return this.#pool?.statuses ?? []
  }

  /** A provider for that chain. Answers are not cached: on a chain that mines every transaction at once they would be old. */
  provider(chainId: number, options: JsonRpcApiProviderOptions = {}): JsonRpcProvider {
    const request = rpcRequest(rpcUrlsOf(this.#endpoints)[0] ?? '')
    const fixed = { ...options, staticNetwork: true, cacheTimeout: -1, batchMaxCount: maxBatchRequests }
    return this.#pool === undefined
      ? new MonotonicProvider(request, chainId, fixed, this.#monotonicMs)
      : new PooledProvider(request, chainId, fixed, this.#pool)
  }

  /** Asks which chain it is; from then on endpoints of others are not believed. Throws what ethers throws, or RpcError. */
  async askChainId(): Promise<number> {
    const provider = this.provider(1)
    try {
      const chainId = Number(await provider.send('eth_chainId', []))
      this.#pool?.expectChain(chainId)
      return chainId
    } finally {
      provider.destroy()
    }
  }

  /** Gives up what was asked of several endpoints. Idempotent. */
  close(): void {
    this.#pool?.close()
  }
}

/** Takes everything that ethers sends to the pool. */
class PooledProvider extends JsonRpcProvider {
  readonly #pool: RpcPool

  constructor(first: FetchRequest, chainId: number, options: JsonRpcApiProviderOptions, pool: RpcPool) {
    super(first, chainId, options)
    this.#pool = pool
  }

  override async _send(payload: JsonRpcPayload | JsonRpcPayload[]): Promise<JsonRpcResult[]> {
    // As ethers has it: what it does with errors is not in its type.
    return (await this.#pool.send([payload].flat())) as (JsonRpcResult | JsonRpcError)[] as JsonRpcResult[]
  }
}
