import { placeOf, type Cancel, type Clock, type MessageRef } from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { Message } from '../subscribe/message.ts'
import type { ResendOptions } from './resend.ts'
import {
  firstPlace,
  lastPlace,
  toPlace,
  toSelection,
  type HistoryPlace,
  type HistorySelection,
} from './selection.ts'

/** The options of `resend`, and the pace. */
export interface PlaybackOptions<T = unknown> extends ResendOptions<T> {
  /** Speed relative to publishing; Infinity is as fast as the application takes messages. Default 1. */
  readonly speed?: number | undefined
}

/** Stored messages at their original pace. Iterate over it once; leaving the loop ends it. */
export interface Playback<T = unknown> extends AsyncIterableIterator<Message<T>, undefined> {
  /** The speed, as a multiple of the pace of publishing. */
  readonly speed: number
  readonly isPaused: boolean
  /** The place of the last delivered message, or the place that `seek` went to; undefined before the first. */
  readonly position: MessageRef | undefined
  /** Delivers nothing until `resume`. Idempotent. */
  pause(): void
  resume(): void
  /**
   * Continues with the first message at or after a place, even if all messages had been delivered; delivers the next
   * message at once. Does nothing if the loop was left, aborted or failed. Throws INVALID_RESEND.
   */
  seek(place: HistoryPlace): void
  /** Throws INVALID_ARGUMENT. */
  setSpeed(speed: number): void
}

/** Reads from a place on, or as selected first. */
export type ReadFrom = (selection: HistorySelection, signal: AbortSignal) => AsyncIterator<Message, unknown>

/** The longest timer of a clock; a longer wait takes several. */
const longestTimerMs = 2_147_483_647

export class PacedPlayback implements Playback {
  readonly #read: ReadFrom
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #to: HistoryPlace | undefined
  #speed: number
  #isPaused = false
  /** By `return`, a failure, or from outside. */
  #isEnded = false
  /** All has been delivered; `seek` goes on. */
  #isAtEnd = false
  #position: MessageRef | undefined
  #source: AsyncIterator<Message, unknown>
  #reading = new AbortController()
  /** The message that waits for its time. */
  #next: Message | undefined
  /** When a message of which time was or would have been delivered; undefined: the next one sets it. */
  #anchor: { readonly atMs: number; readonly timestamp: number } | undefined
  #wake: () => void = () => {}
  /** The call of `next` under way: others come after it. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(
    options: { readonly selection: HistorySelection; readonly speed: number },
    modules: { readonly read: ReadFrom; readonly clock: Clock; readonly signal: AbortSignal },
  ) {
    const { selection, speed } = options
    toSelection(selection)
    this.#speed = checkSpeed(speed)
    this.#read = modules.read
    this.#clock = modules.clock
    this.#signal = modules.signal
    this.#to = 'to' in selection ? selection.to : undefined
    this.#source = this.#read(selection, this.#reading.signal)
  }

  get speed(): number {
    return this.#speed
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  get position(): MessageRef | undefined {
    return this.#position
  }

  pause(): void {
    if (this.#isPaused) return
    this.#moveAnchor()
    this.#isPaused = true
    this.#wake()
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    // What had passed when it was paused has passed; the pause has not.
    if (this.#anchor !== undefined) this.#anchor = { ...this.#anchor, atMs: this.#clock.monotonicMs() }
    this.#wake()
  }

  setSpeed(speed: number): void {
    checkSpeed(speed)
    if (!this.#isPaused) this.#moveAnchor()
    this.#speed = speed
    this.#wake()
  }

  seek(place: HistoryPlace): void {
    const from = toPlace(place, 'place', firstPlace)
    const to = this.#to ?? lastPlace
    toSelection({ from, to })
    this.#reading.abort()
    this.#reading = new AbortController()
    this.#source = this.#read({ from, to }, this.#reading.signal)
    this.#next = undefined
    this.#anchor = undefined
    this.#isAtEnd = false
    this.#position = from
    this.#wake()
  }

  next(): Promise<IteratorResult<Message, undefined>> {
    const result = this.#turn.then(() => this.#deliver())
    this.#turn = result.catch(() => {})
    return result
  }

  async return(): Promise<IteratorResult<Message, undefined>> {
    this.#isEnded = true
    this.#reading.abort()
    this.#wake()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #deliver(): Promise<IteratorResult<Message, undefined>> {
    for (;;) {
      if (this.#isEnded || this.#isAtEnd) return { done: true, value: undefined }
      const source = this.#source
      const message = this.#next ?? (await this.#readNext(source))
      // Sought or ended meanwhile: that message is of before.
      if (source !== this.#source || this.#isEnded) continue
      this.#throwIfAborted()
      if (message === undefined) {
        this.#isAtEnd = true
        continue
      }
      this.#next = message
      const waitMs = this.#waitMsOf(message)
      if (this.#isPaused || waitMs > 0) {
        await this.#wait(this.#isPaused ? undefined : waitMs)
        continue
      }
      this.#next = undefined
      this.#position = placeOf(message)
      return { done: false, value: message }
    }
  }

  /** A reader waiting for a message's time is told as any other reader. */
  #throwIfAborted(): void {
    if (!this.#signal.aborted) return
    this.#isEnded = true
    this.#reading.abort()
    throw clientError('ABORTED', undefined, { cause: this.#signal.reason })
  }

  async #readNext(source: AsyncIterator<Message, unknown>): Promise<Message | undefined> {
    try {
      const { done, value } = await source.next()
      return done ? undefined : value
    } catch (error) {
      if (source !== this.#source || this.#isEnded) return undefined
      this.#isEnded = true
      throw error
    }
  }

  /** How long until it is due; the first one is at once. */
  #waitMsOf({ timestamp }: Message): number {
    const nowMs = this.#clock.monotonicMs()
    this.#anchor ??= { atMs: nowMs, timestamp }
    if (this.#speed === Infinity) return 0
    return this.#anchor.atMs + (timestamp - this.#anchor.timestamp) / this.#speed - nowMs
  }

  /** Makes the present the point from which times are reckoned. */
  #moveAnchor(): void {
    if (this.#anchor === undefined) return
    const atMs = this.#clock.monotonicMs()
    const { timestamp } = this.#anchor
    const passedMs = this.#speed === Infinity ? Infinity : (atMs - this.#anchor.atMs) * this.#speed
    // Never past the message that waits: it has not been delivered.
    const latest = this.#next?.timestamp ?? this.#position?.timestamp ?? timestamp
    this.#anchor = { atMs, timestamp: Math.min(timestamp + passedMs, latest) }
  }

  /** For so long, or until something changes; undefined: until then only. */
  #wait(delayMs: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      let cancel: Cancel = () => {}
      const wake = () => {
        cancel()
        this.#wake = () => {}
        this.#signal.removeEventListener('abort', wake)
        resolve()
      }
      this.#wake = wake
      this.#signal.addEventListener('abort', wake)
      if (delayMs !== undefined) cancel = this.#clock.schedule(Math.min(delayMs, longestTimerMs), wake)
    })
  }
}

function checkSpeed(speed: number): number {
  if (typeof speed === 'number' && speed > 0) return speed
  throw clientError('INVALID_ARGUMENT', 'speed is a number above 0, or Infinity')
}
