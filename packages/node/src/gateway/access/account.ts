import { matches, overlap, parseStreamPattern, type StreamPattern } from '@runnel/client/follow'
import { TokenBucket, type Clock, type NodeId, type StreamId } from '@runnel/protocol'
import { nameOf, type AcquiredClient, type IdentityClients } from './identity-clients.ts'
import type { KeyEntry } from './keys-file.ts'

/** Who uses a gateway: what its key may do, and in whose name that is done. */
export interface GatewayAccount {
  readonly name: string
  /** The user that is served: what it owns is what `/path` names. */
  readonly userId: NodeId
  /** Names whose client acts for the user, who may have several: accounts with the same share one. */
  readonly identity: string
  /** Content of one message, at most. */
  readonly maxMessageBytes: number
  /**
   * The client that acts for the user, shared by all connections: give it back when the connection ends. Throws
   * GATEWAY_TOO_MANY_IDENTITIES, and what opening a client throws.
   */
  acquire(): Promise<AcquiredClient>
  /** By the key; whether the user may, the registry says, which the client asks. */
  mayPublish(streamId: StreamId): boolean
  maySubscribe(streamId: StreamId): boolean
  /** Whether there can be streams among these that the key is for; `/path` is one of the user. Throws INVALID_STREAM_ID. */
  maySubscribeToSome(pattern: string): boolean
  /** The most that can be taken from the rate at once. */
  readonly burst: { readonly messages: number; readonly bytes: number }
  /**
   * Takes a message, or so many at once, with so many bytes together from the rate of the key: 0 when they were taken, else the
   * milliseconds until they can be. What is more than the burst counts as that.
   */
  takeRate(bytes: number, messages?: number): number
  /** Counts a connection in, and returns what counts it out, once; undefined when there are too many. */
  connect(): (() => void) | undefined
}

export interface AccountModules {
  readonly userId: NodeId
  readonly clients: Pick<IdentityClients, 'acquire'>
  readonly clock: Pick<Clock, 'monotonicMs'>
}

/** An entry of the file of keys, at work. */
export class Account implements GatewayAccount {
  readonly name: string
  readonly userId: NodeId
  readonly identity: string
  readonly maxMessageBytes: number
  readonly burst: { readonly messages: number; readonly bytes: number }
  readonly #entry: KeyEntry
  readonly #modules: AccountModules
  readonly #publish: readonly StreamPattern[]
  readonly #subscribe: readonly StreamPattern[]
  readonly #messages: TokenBucket
  readonly #bytes: TokenBucket
  #connections = 0

  constructor(entry: KeyEntry, modules: AccountModules) {
    const { name, maxMessageBytes, maxMessagesPerS, maxBytesPerS } = entry
    const { userId, clock } = modules
    this.name = name
    this.userId = userId
    this.identity = nameOf(entry)
    this.maxMessageBytes = maxMessageBytes
    this.#entry = entry
    this.#modules = modules
    const parse = (text: string) => parseStreamPattern(text, userId)
    this.#publish = entry.publish.map(parse)
    this.#subscribe = entry.subscribe.map(parse)
    const nowMs = clock.monotonicMs()
    // The largest message has to pass, however low the rate.
    this.burst = { messages: maxMessagesPerS, bytes: Math.max(maxBytesPerS, maxMessageBytes) }
    this.#messages = new TokenBucket({ perSecond: maxMessagesPerS, burst: this.burst.messages }, nowMs)
    this.#bytes = new TokenBucket({ perSecond: maxBytesPerS, burst: this.burst.bytes }, nowMs)
  }

  get connections(): number {
    return this.#connections
  }

  acquire(): Promise<AcquiredClient> {
    return this.#modules.clients.acquire(this.#entry)
  }

  mayPublish(streamId: StreamId): boolean {
    return this.#publish.some((pattern) => matches(pattern, streamId))
  }

  maySubscribe(streamId: StreamId): boolean {
    return this.#subscribe.some((pattern) => matches(pattern, streamId))
  }

  maySubscribeToSome(pattern: string): boolean {
    const wanted = parseStreamPattern(pattern, this.userId)
    return this.#subscribe.some((allowed) => overlap(allowed, wanted))
  }

  takeRate(bytes: number, messages = 1): number {
    const nowMs = this.#modules.clock.monotonicMs()
    const taken = {
      messages: Math.min(messages, this.burst.messages),
      bytes: Math.min(bytes, this.burst.bytes),
    }
    const waitMs = Math.max(
      this.#messages.waitMs(nowMs, taken.messages),
      this.#bytes.waitMs(nowMs, taken.bytes),
    )
    if (waitMs > 0) return Math.ceil(waitMs)
    this.#messages.take(nowMs, taken.messages)
    this.#bytes.take(nowMs, taken.bytes)
    return 0
  }

  connect(): (() => void) | undefined {
    if (this.#connections >= this.#entry.maxConnections) return undefined
    this.#connections++
    let isOut = false
    return () => {
      if (!isOut) this.#connections--
      isOut = true
    }
  }
}
