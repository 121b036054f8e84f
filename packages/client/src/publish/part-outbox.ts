import type { NetworkNode } from '@runnel/network'
import {
  buildBatch,
  EncryptionType,
  isRunnelError,
  limits,
  placeOf,
  toStreamPartId,
  type BuiltBatch,
  type Clock,
  type Crypto,
  type MessageChain,
  type MessageDraft,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import type { ContentSteps } from '../content/content-steps.ts'
import type { EncodedContent } from '../content/encoded-content.ts'
import { onAbort } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import { MessageClock } from './message-clock.ts'

/** A message that was handed to the network. */
export interface PublishedMessage extends MessageRef, MessageChain {
  /** How many neighbours it was sent to; if 0, only nodes that join soon get it. */
  readonly neighbours: number
}

/** An urgent message that is sealed and signed but not yet sent. */
export interface PreparedMessage {
  /**
   * Hands the message to the network at once, within this call. Does nothing if it was already sent, or if the client is closed or its node
   * has left the stream part.
   */
  send(): void
}

export interface PartOutboxModules {
  readonly node: NetworkNode
  readonly user: Pick<ActingUser, 'signer' | 'require'>
  readonly crypto: Crypto
  readonly clock: Clock
  readonly steps: Pick<ContentSteps, 'seal'>
  readonly neighbourCount: (streamPartId: StreamPartId) => number
}

interface Entry {
  readonly content: EncodedContent
  timestamp: number
  readonly promise: Promise<PublishedMessage>
  readonly resolve: (message: PublishedMessage) => void
  readonly reject: (error: unknown) => void
  /** Takes its batch in place of the network. */
  readonly keep: ((batch: BuiltBatch) => void) | undefined
}

/** A message chain, and how far it has come. */
interface Outgoing {
  readonly chain: MessageChain
  readonly clock: MessageClock
  /** The place of the message that was sent last. */
  head: MessageRef | undefined
}

/** Content of one batch, unless a single message has more. */
const maxBatchContentBytes = 64 * 1024

/**
 * The outgoing messages of one stream part: messages added in one turn of the event loop leave as one signed batch, in order, and
 * the next batch waits until the neighbours can take it.
 */
export class PartOutbox {
  readonly #options: { readonly chain: MessageChain; readonly maxBehindMs: number }
  readonly #streamPartId: StreamPartId
  readonly #modules: PartOutboxModules
  #outgoing: Outgoing
  /** Chains begun after the first. */
  #begunAnew = 0
  readonly #isUrgent: boolean
  readonly #closing = new AbortController()
  #ready: Promise<void>
  #entries: Entry[] = []
  /** Taken out of `#entries`, and not yet sent. */
  #sealing: readonly Entry[] = []
  #flushing = false
  #aloneMs = -Infinity

  /** Nothing is sent before `ready` resolves. What is urgent waits for nothing, is alone in its batch, and names no previous message. */
  constructor(
    options: { chain: MessageChain; ready: Promise<void>; maxBehindMs: number; isUrgent?: boolean },
    modules: PartOutboxModules,
  ) {
    this.#options = options
    this.#outgoing = { chain: options.chain, clock: new MessageClock(options), head: undefined }
    this.#isUrgent = options.isUrgent ?? false
    this.#ready = options.ready
    this.#modules = modules
    this.#streamPartId = toStreamPartId(options.chain.streamId, options.chain.partition)
  }

  /** When something was sent last while there was no neighbour, by the monotonic clock. */
  get aloneMs(): number {
    return this.#aloneMs
  }

  /** Resolves when the message was handed to the network. Rejects with a TIMESTAMP_… or DELEGATION_ code, ABORTED or CLIENT_CLOSED. */
  add(
    content: EncodedContent,
    options: { timestamp?: number | undefined; signal?: AbortSignal | undefined },
    keep?: (batch: BuiltBatch) => void,
  ): Promise<PublishedMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<PublishedMessage>()
    if (this.#closing.signal.aborted) return Promise.reject(clientError('CLIENT_CLOSED'))
    const { user, clock } = this.#modules
    const nowMs = clock.now()
    if (this.#outgoing.clock.isTooFarAhead(nowMs)) this.#beginAnew(nowMs)
    const { chain, clock: messageClock } = this.#outgoing
    const timestamp = messageClock.timestampFor(options.timestamp, nowMs)
    user.require('publishes', chain.streamId, timestamp)
    const entry: Entry = { content, timestamp, promise, resolve, reject, keep }
    this.#entries.push(entry)
    const { signal } = options
    const forget = onAbort(signal, () => this.#withdraw(entry, signal?.reason))
    this.#scheduleFlush()
    return promise.finally(forget)
  }

  /** Of an outbox of urgent messages: as `add`, but the message stays here until it is sent by what this resolves to. */
  async prepare(content: EncodedContent): Promise<PreparedMessage> {
    let batch: BuiltBatch | undefined
    await this.add(content, {}, (built) => (batch = built))
    return {
      send: () => {
        if (batch !== undefined && !this.#closing.signal.aborted) this.#sendPrepared(batch)
        batch = undefined
      },
    }
  }

  /** Sends nothing more before this resolves, either. */
  waitFor(ready: Promise<void>): void {
    this.#ready = ready
  }

  /** Resolves when all that was added so far is sent or refused. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#sealing, ...this.#entries].map(({ promise }) => promise))
  }

  /** Rejects the unsent messages. */
  close(): void {
    this.#closing.abort()
    for (const { reject } of [...this.#sealing, ...this.#entries.splice(0)])
      reject(clientError('CLIENT_CLOSED', 'before it was sent'))
  }

  /** Nodes refused what was sent by the clock that was ahead; what waits to be sent gets the time that it is. Members of media sessions are known by what stands before the dot. */
  #beginAnew(nowMs: number): void {
    const { chain } = this.#options
    const messageChainId = `${chain.messageChainId}.${++this.#begunAnew}`
    const clock = new MessageClock(this.#options)
    this.#outgoing = { chain: { ...chain, messageChainId }, clock, head: undefined }
    for (const entry of this.#entries) entry.timestamp = Math.min(entry.timestamp, nowMs)
  }

  #withdraw(entry: Entry, cause: unknown): void {
    const at = this.#entries.indexOf(entry)
    if (at < 0) return
    this.#entries.splice(at, 1)
    entry.reject(clientError('ABORTED', undefined, { cause }))
  }

  #scheduleFlush(): void {
    if (this.#flushing) return
    this.#flushing = true
    this.#modules.clock.endOfTurn(() => {
      this.#flush().catch((error: unknown) => this.#failed(error))
    })
  }

  /** Rejects the waiting messages; later ones are tried again. */
  #failed(error: unknown): void {
    this.#flushing = false
    for (const { reject } of this.#entries.splice(0)) reject(error)
  }

  async #flush(): Promise<void> {
    if (!this.#isUrgent) await this.#ready
    while (this.#entries.length > 0) {
      const entries = this.#takeBatch()
      const outgoing = this.#outgoing
      const sealed = this.#seal(entries, outgoing)
      if (this.#send(entries, sealed instanceof Promise ? await sealed : sealed, outgoing)) continue
      try {
        await this.#modules.node.writable(this.#streamPartId, this.#closing.signal)
      } catch (error) {
        // The node ended. When the client is closing, `close` has already settled the waiting promises.
        for (const { reject } of this.#entries.splice(0)) reject(error)
      }
    }
    this.#flushing = false
  }

  #takeBatch(): Entry[] {
    if (this.#isUrgent) return this.#entries.splice(0, 1)
    let bytes = 0
    let count = 0
    const startMs = this.#entries[0]?.timestamp ?? 0
    for (const { content, timestamp } of this.#entries) {
      bytes += content.bytes.length
      const isFull = bytes > maxBatchContentBytes || count >= limits.maxBatchMessages
      if (count > 0 && (isFull || timestamp - startMs > limits.maxBatchSpanMs)) break
      count++
    }
    return this.#entries.splice(0, count)
  }

  /** Gives the messages of a batch their places, and seals them. Refuses them, and returns undefined, where that fails. */
  #seal(entries: readonly Entry[], { chain, clock, head }: Outgoing): Sealed | Promise<Sealed> {
    let previous = head
    const drafts = entries.map(({ content, timestamp }) => {
      const ref = clock.next(timestamp)
      // Each name is written out: what is spread is slower to make, and to read.
      const draft: MessageDraft = {
        timestamp: ref.timestamp,
        sequenceNumber: ref.sequenceNumber,
        previous: this.#isUrgent ? undefined : previous,
        contentType: content.contentType,
        encryptionType: EncryptionType.none,
        groupKeyId: '',
        extensions: content.extensions,
        content: content.bytes,
      }
      previous = ref
      return draft
    })
    const failed = (error: unknown): undefined => {
      for (const { reject } of entries) reject(error)
    }
    try {
      const sealed = this.#modules.steps.seal(drafts, chain)
      if (!(sealed instanceof Promise)) return sealed
      this.#sealing = entries
      return sealed.catch(failed).finally(() => (this.#sealing = []))
    } catch (error) {
      return failed(error)
    }
  }

  #sendPrepared(batch: BuiltBatch): void {
    try {
      this.#modules.node.publish(batch)
    } catch (error) {
      if (!isRunnelError(error)) throw error
    }
  }

  /** False when the next batch should wait. */
  #send(entries: readonly Entry[], messages: Sealed, outgoing: Outgoing): boolean {
    if (messages === undefined) return true
    const { node, crypto, user, neighbourCount, clock } = this.#modules
    const { chain } = outgoing
    try {
      if (this.#closing.signal.aborted) throw clientError('CLIENT_CLOSED', 'before it was sent')
      const batch = buildBatch({ chain, messages }, crypto, user.signer)
      const neighbours = neighbourCount(this.#streamPartId)
      const keep = entries[0]?.keep
      if (neighbours === 0 && keep === undefined) this.#aloneMs = clock.monotonicMs()
      const writable = keep === undefined ? node.publish(batch) || this.#isUrgent : true
      keep?.(batch)
      for (const [i, message] of messages.entries()) {
        outgoing.head = placeOf(message)
        entries[i]?.resolve({ ...chain, ...outgoing.head, neighbours })
      }
      return writable
    } catch (error) {
      for (const { reject } of entries) reject(error)
      return true
    }
  }
}

/** Undefined: refused. */
type Sealed = readonly MessageDraft[] | undefined
