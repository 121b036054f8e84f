import type { Clock, MessageBatch, NodeId, VerificationPool } from '@runnel/protocol'
import type { Counters } from '../core/counters.ts'
import type { NodeEvent } from '../core/events.ts'
import { MainThreadShare } from './main-thread-share.ts'

export interface VerificationQueueLimits {
  readonly verificationBurstMs: number
  readonly verificationShare: number
  readonly maxUnverifiedEvents: number
  readonly maxUnverifiedBytes: number
}

export interface VerificationQueueModules {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Undefined: everything is verified on this thread. */
  readonly pool: VerificationPool | undefined
  readonly counters: Counters
  /** Verifies on this thread. */
  verify(batch: MessageBatch, signerId: NodeId): boolean
  /** Whose signature the core would ask for if a batch came now; undefined where it would ask for none. */
  signerOf(peerId: NodeId, batch: MessageBatch): NodeId | undefined
  /** Must not throw. */
  dispatch(event: NodeEvent): void
}

/** An event of a link that waits for its turn. */
interface Waiting {
  readonly event: NodeEvent
  readonly bytes: number
  /** Since when it waits; read where it does. */
  sinceMs: number
  /** Somebody is verifying its batch. */
  isAsked: boolean
}

interface Verdict {
  readonly signerId: NodeId
  readonly isSigned: boolean
}

/**
 * Has batches, urgent ones too, verified on other cores before the core gets them, once this thread is behind: once it has verified for more than its share of
 * time. All that links bring afterwards waits in the order in which it came, so that the core sees the same events as without it, only later.
 * The core asks for each signature as ever, and gets the verdict that is there already.
 */
export class VerificationQueue {
  readonly #limits: VerificationQueueLimits
  readonly #modules: VerificationQueueModules
  readonly #share: MainThreadShare
  readonly #verdicts = new WeakMap<MessageBatch, Verdict>()
  /** From `#first` on, in the order in which they came. */
  #waiting: Waiting[] = []
  #first = 0
  #bytes = 0
  /** By signature, of what is being verified: copies of it come from other neighbours. */
  readonly #asked = new Set<string>()

  constructor(limits: VerificationQueueLimits, modules: VerificationQueueModules) {
    this.#limits = limits
    this.#modules = modules
    this.#share = new MainThreadShare({
      burstMs: limits.verificationBurstMs,
      share: limits.verificationShare,
    })
  }

  /** Workers that ended by themselves. */
  get workersLost(): number {
    return this.#modules.pool?.workersLost ?? 0
  }

  /** What comes now has to wait: views of a frame have to be copied. */
  get isWaiting(): boolean {
    return this.#waiting.length > this.#first
  }

  /** True when the key of this address signed the batch. */
  verify(batch: MessageBatch, signerId: NodeId): boolean {
    const known = this.#verdicts.get(batch)
    if (known?.signerId === signerId) return known.isSigned
    const { pool, clock, verify } = this.#modules
    if (pool === undefined) return verify(batch, signerId)
    const startMs = clock.monotonicMs()
    const isSigned = verify(batch, signerId)
    const nowMs = clock.monotonicMs()
    this.#share.spent(nowMs - startMs, nowMs)
    return isSigned
  }

  /** An event of a link, and the bytes of its packet: dispatched at once, or in its turn. */
  take(event: NodeEvent, bytes = 0): void {
    const { pool, dispatch, clock } = this.#modules
    if (pool === undefined) return dispatch(event)
    const waiting: Waiting = { event, bytes, sinceMs: 0, isAsked: false }
    if (event.type === 'data' || event.type === 'urgent') this.#ask(pool, waiting, event.peerId, event.batch)
    if (!waiting.isAsked && !this.isWaiting) return dispatch(event)
    waiting.sinceMs = clock.monotonicMs()
    this.#waiting.push(waiting)
    this.#bytes += waiting.bytes
    while (this.#isFull()) this.#next()
    this.#drain()
  }

  /** What waits is of no use any more. */
  clear(): void {
    this.#waiting = []
    this.#first = 0
    this.#bytes = 0
    this.#asked.clear()
  }

  #ask(pool: VerificationPool, waiting: Waiting, peerId: NodeId, batch: MessageBatch): void {
    const { clock, signerOf, counters } = this.#modules
    if (!this.isWaiting && !this.#share.isBehind(clock.monotonicMs())) return
    const signerId = signerOf(peerId, batch)
    if (signerId === undefined) return
    const key = keyOf(batch)
    if (this.#asked.has(key)) return
    waiting.isAsked = true
    const isTaken = pool.verify(batch, signerId, (isSigned) => {
      this.#asked.delete(key)
      if (isSigned !== undefined) this.#verdicts.set(batch, { signerId, isSigned })
      waiting.isAsked = false
      this.#drain()
    })
    if (!isTaken) {
      waiting.isAsked = false
      // Its verdict is there when its turn comes, while others are verified elsewhere.
      if (this.isWaiting) this.#verdicts.set(batch, { signerId, isSigned: this.verify(batch, signerId) })
      return
    }
    counters['data.verifiedAside']++
    if (waiting.isAsked) this.#asked.add(key)
  }

  #isFull(): boolean {
    const { maxUnverifiedEvents, maxUnverifiedBytes } = this.#limits
    return (
      this.#waiting.length - this.#first > maxUnverifiedEvents ||
      (this.#bytes > maxUnverifiedBytes && this.isWaiting)
    )
  }

  #drain(): void {
    while (this.#waiting[this.#first]?.isAsked === false) this.#next()
  }

  /** The oldest, with its verdict or without: then the core asks for one. */
  #next(): void {
    const oldest = this.#waiting[this.#first++]
    if (this.#first * 2 > this.#waiting.length) {
      this.#waiting.splice(0, this.#first)
      this.#first = 0
    }
    if (oldest === undefined) return
    this.#bytes -= oldest.bytes
    this.#modules.dispatch(this.#afterWaiting(oldest))
  }

  /** What is urgent has so much less time left. */
  #afterWaiting({ event, sinceMs }: Waiting): NodeEvent {
    if (event.type !== 'urgent') return event
    const waitedMs = this.#modules.clock.monotonicMs() - sinceMs
    return { ...event, remainingMs: Math.max(0, Math.floor(event.remainingMs - waitedMs)) }
  }
}

/** Tells batches apart by a part of their signatures: a mistake costs a verification on this thread, as the verdict is of the batch itself. */
function keyOf({ signature }: MessageBatch): string {
  let key = ''
  for (let i = 0; i < 8; i++)
    key += String.fromCharCode((signature[2 * i] ?? 0) * 256 + (signature[2 * i + 1] ?? 0))
  return key
}
