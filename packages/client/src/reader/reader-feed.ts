import { backoffMs, compareRefs, isRunnelError, type Clock, type MessageRef } from '@runnel/protocol'
import { pause, throwIfAborted } from '../deadline.ts'
import type { UndecodableMessage } from '../content/undecodable-message.ts'
import type { HistorySelection } from '../resend/selection.ts'
import type { MessageGap } from '../subscribe/gap.ts'
import type { Message } from '../subscribe/message.ts'
import type { SubscribeOptions } from '../subscribe/subscriber.ts'
import type { Subscription } from '../subscribe/subscription.ts'
import { readerLimits } from './limits.ts'

/** Who is told of what cannot be delivered. */
export interface FeedListeners {
  readonly onGap: (gap: MessageGap) => void
  readonly onUndecodable: (message: UndecodableMessage) => void
}

export interface ReaderFeedModules {
  readonly clock: Clock
  /** Ends it. */
  readonly signal: AbortSignal
  /** Reads history as `resend` does; without listeners as it came, for its places alone. */
  readonly read: (selection: HistorySelection, listeners?: FeedListeners) => AsyncGenerator<Message, void>
  readonly subscribe: (options: Pick<SubscribeOptions, 'resend'> & FeedListeners) => Promise<Subscription>
  /** Resolves when there is room for a message. */
  readonly room: () => Promise<void>
  readonly offer: (message: Message) => void
  /** Whether a message was offered before, or is done. */
  readonly knows: (message: Message) => boolean
  readonly listeners: FeedListeners
  /** Storage nodes failed; it is tried again. */
  readonly onFailed: (error: unknown) => void
}

export interface ReaderFeedOptions {
  /** Everything with an earlier timestamp is done. */
  readonly floorMs: number
  /** So much later than its timestamp a message may come. */
  readonly maxLateMs: number
}

/** What a pause cannot mend. A stream without a storage node may get another, or its trackers be away that know the way to it. */
const finalCodes = ['STREAM_NOT_FOUND', 'NO_SUBSCRIBE_PERMISSION', 'CLIENT_CLOSED', 'NODE_REPLACED']
export const isFinal = (error: unknown): boolean =>
  !isRunnelError(error) || finalCodes.includes(error.code) || error.code.startsWith('DELEGATION_')

/**
 * Brings every stored message of a stream, and every live one, at least once: history until it is as old as a live message may be, then the
 * rest joined to live messages. When it lost some for want of room, or is asked to, it goes back to history. History is in the order of time but
 * for gaps that are filled: what is swept trails by `maxLateMs` there, too. What is old enough to be complete it reads a second time, as places
 * alone: only what was found so is swept.
 */
export class ReaderFeed {
  readonly #options: ReaderFeedOptions
  readonly #modules: ReaderFeedModules
  /** From when on it is to read next; undefined while it need not go back. */
  #againMs: number | undefined
  #sweptMs: number
  /** Of the newest message that came. Nothing later counts as swept: a clock that is ahead would have what is still to come count as done. */
  #newestMs: number
  /** Where to go on when what is read now fails. */
  #resumeMs = 0
  /** Why it is to pause before it goes back. */
  #putOff: { readonly error: unknown } | undefined
  #subscription: Subscription | undefined

  constructor(options: ReaderFeedOptions, modules: ReaderFeedModules) {
    this.#options = options
    this.#modules = modules
    this.#againMs = options.floorMs
    this.#sweptMs = options.floorMs
    this.#newestMs = options.floorMs
  }

  /** All messages that are stored with an earlier timestamp were offered. */
  get sweptMs(): number {
    return this.#sweptMs
  }

  /** Reads again from a place on. */
  again(from: MessageRef): void {
    this.#againMs = Math.min(this.#againMs ?? Infinity, from.timestamp)
    void this.#subscription?.unsubscribe()
  }

  /** A message cannot be read now, and may be later: reads again from it on, after a pause. */
  putOff(from: MessageRef, error: unknown): void {
    this.#putOff ??= { error }
    this.again(from)
  }

  /** Reads again from a time on, and nothing from before counts as swept. */
  beginAt(floorMs: number): void {
    this.#sweptMs = floorMs
    this.#newestMs = floorMs
    this.again({ timestamp: floorMs, sequenceNumber: 0 })
  }

  /** Runs until the signal is aborted; rejects with what a pause cannot mend. */
  async run(): Promise<void> {
    const { signal, clock, onFailed } = this.#modules
    let failures = 0
    while (!signal.aborted) {
      const fromMs = this.#againMs ?? this.#sweptMs
      this.#againMs = undefined
      this.#putOff = undefined
      try {
        await this.#pass(fromMs)
        this.#throwPutOff()
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        if (isFinal(error)) throw error
        onFailed(error)
        this.again({ timestamp: this.#resumeMs, sequenceNumber: 0 })
        const { minReaderBackoffMs, maxReaderBackoffMs } = readerLimits
        await pause(clock, backoffMs(++failures, minReaderBackoffMs, maxReaderBackoffMs), signal)
      }
    }
  }

  #throwPutOff(): void {
    if (this.#putOff !== undefined) throw this.#putOff.error
  }

  /** From a time on, until it has to go back. */
  async #pass(fromMs: number): Promise<void> {
    const settledMs = Math.max(0, this.#modules.clock.now() - this.#options.maxLateMs)
    const isWhole = fromMs <= this.#sweptMs
    this.#resumeMs = fromMs
    const swept = (untilMs: number) => {
      if (isWhole) this.#sweptMs = Math.max(this.#sweptMs, Math.min(untilMs, settledMs))
    }
    if (fromMs < settledMs) {
      for await (const message of this.#modules.read(
        { from: fromMs, to: settledMs },
        this.#modules.listeners,
      )) {
        await this.#modules.room()
        if (this.#againMs !== undefined) return
        this.#modules.offer(message)
        this.#noteTime(message)
        // What fills a gap comes after newer messages of other chains.
        this.#resumeMs = Math.max(this.#resumeMs, message.timestamp - this.#options.maxLateMs)
        swept(this.#resumeMs)
      }
      // Put elsewhere meanwhile: what was read says nothing of that.
      if (this.#againMs !== undefined) return
      swept(this.#newestMs)
    }
    this.#resumeMs = Math.max(fromMs, Math.min(settledMs, this.#newestMs))
    await this.#live(this.#resumeMs)
  }

  /** What is stored since a time, and what comes then. */
  async #live(fromMs: number): Promise<void> {
    const { signal, subscribe, listeners, room, offer, clock } = this.#modules
    throwIfAborted(signal)
    if (this.#againMs !== undefined) return
    const subscription = await subscribe({ resend: { from: fromMs }, ...listeners })
    this.#subscription = subscription
    // Asked for meanwhile.
    if (this.#againMs !== undefined) void subscription.unsubscribe()
    let failure: unknown
    const ending = new AbortController()
    subscription
      .caughtUp()
      .then(() => this.#sweepNowAndThen(ending.signal))
      .catch((error: unknown) => {
        failure = error
        void subscription.unsubscribe()
      })
    let lastMs = fromMs
    try {
      for await (const message of subscription) {
        if (this.#againMs !== undefined) break
        await room()
        offer(message)
        this.#noteTime(message)
        if (subscription.counters().dropped > 0) this.#goBack(lastMs)
        lastMs = Math.min(message.timestamp, clock.now())
      }
    } finally {
      ending.abort()
      this.#subscription = undefined
    }
    if (failure !== undefined) throw failure
  }

  #noteTime({ timestamp }: Message): void {
    this.#newestMs = Math.max(this.#newestMs, timestamp)
  }

  /** Live messages were dropped for want of room, after one of that time. */
  #goBack(lastMs: number): void {
    this.again({ timestamp: Math.max(0, lastMs - readerLimits.readerOverlapMs), sequenceNumber: 0 })
  }

  /** Rejects with what a pause cannot mend. */
  async #sweepNowAndThen(signal: AbortSignal): Promise<void> {
    const { clock, onFailed } = this.#modules
    const untilEnded = AbortSignal.any([signal, this.#modules.signal])
    while (!untilEnded.aborted) {
      await pause(clock, this.#options.maxLateMs / 2, untilEnded)
      try {
        if (!untilEnded.aborted) await this.#sweep(untilEnded)
      } catch (error) {
        if (untilEnded.aborted) return
        if (isFinal(error)) throw error
        onFailed(error)
      }
    }
  }

  /** Whether all was offered that is stored and old enough to be complete. Goes back for what was not. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { clock, read, knows } = this.#modules
    const toMs = clock.now() - this.#options.maxLateMs
    if (toMs <= this.#sweptMs) return
    const isOver = () => signal.aborted || this.#againMs !== undefined
    let first: MessageRef | undefined
    for await (const message of read({ from: this.#sweptMs, to: toMs })) {
      if (isOver()) return
      this.#noteTime(message)
      if (!knows(message) && (first === undefined || compareRefs(message, first) < 0)) first = message
    }
    if (isOver()) return
    this.#sweptMs = Math.max(this.#sweptMs, first?.timestamp ?? Math.min(toMs, this.#newestMs))
    if (first !== undefined) this.again(first)
  }
}
