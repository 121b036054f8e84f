import type { RunnelClient } from '@runnel/client'
import { streamIdOf, type RunnelError, type StreamId } from '@runnel/protocol'
import { nodeError } from '../errors.ts'
import type { GatewayAccess, GatewayCredential } from './access/access.ts'
import type { GatewayAccount } from './access/account.ts'
import type { AcquiredClient } from './access/identity-clients.ts'
import { takeRate, WaitError } from './access/rate.ts'
import { gatewayLimits } from './limits.ts'

/** Who sent a request, and the client that acts for it; to be released when it is answered. */
export interface Caller {
  readonly account: GatewayAccount
  readonly client: RunnelClient
  release(): void
}

/** Lets in who shows a key, and ends what stays open when the key ends. */
export class Callers {
  readonly #access: GatewayAccess
  /** How to end what is open, by the name of the account. */
  readonly #open = new Map<string, Set<(why: RunnelError) => void>>()
  #readers = 0

  constructor(access: GatewayAccess) {
    this.#access = access
  }

  /** Ends connections whose keys are changed or taken away, until it is stopped. */
  start(): () => void {
    return this.#access.on('changed', (name) => {
      for (const end of [...(this.#open.get(name) ?? [])]) end(nodeError('GATEWAY_KEY_ENDED', name))
    })
  }

  /** Readers, and other connections that stay open. */
  get readers(): number {
    return this.#readers
  }

  /** Throws GATEWAY_KEY_MISSING, GATEWAY_KEY_WRONG, and WaitError where wrong keys come from that address too often. */
  accountOf(credential: GatewayCredential | undefined, address: string): GatewayAccount {
    if (credential === undefined) throw nodeError('GATEWAY_KEY_MISSING')
    const account = this.#access.accountOf(credential)
    if (account !== undefined) return account
    const waitMs = this.#access.failed(address)
    throw waitMs > 0 ? new WaitError('GATEWAY_KEY_WRONG', waitMs) : nodeError('GATEWAY_KEY_WRONG')
  }

  /** For one request. Throws GATEWAY_KEY_ENDED, and what opening a client throws. */
  async enter(account: GatewayAccount): Promise<Caller> {
    const { client, release } = await this.#acquire(account)
    return { account, client, release }
  }

  /** Not for a key that has ended since the request began: its body may have taken a while. */
  async #acquire(account: GatewayAccount): Promise<AcquiredClient> {
    const acquired = await account.acquire()
    if (this.#access.accountNamed(account.name) === account) return acquired
    acquired.release()
    throw nodeError('GATEWAY_KEY_ENDED', account.name)
  }

  /** For what stays open: `end` is called when the key ends, or the gateway. Throws GATEWAY_TOO_MANY_CONNECTIONS, and what `enter` throws. */
  async stay(account: GatewayAccount, end: (why: RunnelError) => void): Promise<Caller> {
    const leave = this.#readers < gatewayLimits.maxReaders ? account.connect() : undefined
    if (leave === undefined) throw nodeError('GATEWAY_TOO_MANY_CONNECTIONS', account.name)
    this.#readers++
    const open = this.#open.get(account.name) ?? new Set()
    this.#open.set(account.name, open.add(end))
    let isReleased = false
    const forget = () => {
      if (isReleased) return
      isReleased = true
      this.#readers--
      open.delete(end)
      if (open.size === 0 && this.#open.get(account.name) === open) this.#open.delete(account.name)
      leave()
    }
    try {
      const { client, release } = await this.#acquire(account)
      return {
        account,
        client,
        release: () => {
          forget()
          release()
        },
      }
    } catch (error) {
      forget()
      throw error
    }
  }

  /** Ends all that is open: the gateway stops. */
  endAll(): void {
    for (const ends of [...this.#open.values()])
      for (const end of [...ends]) end(nodeError('GATEWAY_STOPPING'))
  }
}

/** The id of a stream as a client names it: `/path` is of the user that is served. Throws INVALID_STREAM_ID. */
export function streamOf(text: string, { userId }: Pick<GatewayAccount, 'userId'>): StreamId {
  return streamIdOf(text, userId)
}

/** Lets a key read a stream, and takes that from its rate. Throws GATEWAY_NOT_ALLOWED, and what `takeRate` throws. */
export function requireReading(account: GatewayAccount, streamId: StreamId): void {
  if (!account.maySubscribe(streamId)) throw nodeError('GATEWAY_NOT_ALLOWED', `${account.name}: ${streamId}`)
  takeRate(account)
}
