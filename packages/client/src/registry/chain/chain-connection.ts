import { rpcSecrets, type RegistryAddresses, type RpcSecrets } from '@runnel/contracts'
import { isRunnelError } from '@runnel/protocol'
import { FetchRequest, JsonRpcProvider } from '@runnel/contracts/ethers'
import { clientError } from '../../errors.ts'
import type { RegistryHealth } from '../ports.ts'
import { translateChainError } from './chain-errors.ts'

/** Where the registries of a network stand. */
export interface ChainAddress {
  readonly rpcUrl: string
  /** Asked of the endpoint when absent. */
  readonly chainId?: number | undefined
  readonly registries: RegistryAddresses
}

/** How long one request may take. */
const requestTimeoutMs = 10_000
/** How often ethers looks whether a transaction is mined, while one is waited for. */
const receiptPollingMs = 200

/** The endpoint of a chain, and whether it answers. */
export class ChainConnection {
  readonly provider: JsonRpcProvider
  /** What the endpoint said that it serves. */
  readonly chainId: number
  /** The endpoint's URL without secrets, and a filter that keeps the secrets out of errors. */
  readonly secrets: RpcSecrets
  /** Hears of every change between reachable and unreachable. */
  onHealth: (health: RegistryHealth) => void = () => {}
  #reachable = true
  #closed = false

  constructor(rpcUrl: string, chainId: number) {
    this.provider = createProvider(rpcUrl, chainId)
    this.chainId = chainId
    this.secrets = rpcSecrets(rpcUrl)
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
      if (isRunnelError(error, 'CHAIN_UNREACHABLE')) this.#setUnreachable(error)
      else this.#setReachable()
      throw error
    }
  }

  /** Cancels pending requests. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.provider.destroy()
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

/** Connects, and checks the chain and that the registries are there. Throws CHAIN_UNREACHABLE, CHAIN_MISMATCH or REGISTRY_MISSING. */
export async function openChainConnection({
  rpcUrl,
  chainId,
  registries,
}: ChainAddress): Promise<ChainConnection> {
  const servedId = await askChainId(rpcUrl)
  if (chainId !== undefined && chainId !== servedId) {
    throw clientError(
      'CHAIN_MISMATCH',
      `${rpcSecrets(rpcUrl).shown} serves ${servedId}, configured is ${chainId}`,
    )
  }
  const connection = new ChainConnection(rpcUrl, servedId)
  try {
    await requireContracts(connection, registries)
  } catch (error) {
    connection.close()
    throw error
  }
  return connection
}

/** Without a cache: on a chain that mines every transaction at once, it would answer with old values. */
function createProvider(rpcUrl: string, chainId: number): JsonRpcProvider {
  const request = new FetchRequest(rpcUrl)
  request.timeout = requestTimeoutMs
  return new JsonRpcProvider(request, chainId, {
    staticNetwork: true,
    pollingInterval: receiptPollingMs,
    cacheTimeout: -1,
  })
}

/** Left to detect the network itself, ethers would ask for ever when the endpoint does not answer. */
async function askChainId(rpcUrl: string): Promise<number> {
  const connection = new ChainConnection(rpcUrl, 1)
  try {
    return Number(await connection.call(() => connection.provider.send('eth_chainId', [])))
  } finally {
    connection.close()
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
