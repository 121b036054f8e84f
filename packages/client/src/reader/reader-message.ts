import type { Message } from '../subscribe/message.ts'

/** A message that is to be acknowledged. */
export interface ReaderMessage<T = unknown> extends Message<T> {
  /** How often this process was given it, with this time; from 1. */
  readonly deliveries: number
  /** It is done, and not delivered again once that is stored: within about a second, at `close`, or with `flush`. Again it changes nothing. */
  ack(): void
  /** It could not be done: it is delivered again, after `delayMs` (default 0). */
  nack(options?: { readonly delayMs?: number }): void
}

/** How a reader has fared so far, in this process. */
export interface ReaderCounters {
  /** Messages that the application took, each once. */
  readonly delivered: number
  /** Deliveries of the same messages again. */
  readonly redelivered: number
  readonly acknowledged: number
  /** Messages that were delivered too often, or cannot be read. */
  readonly givenUp: number
  /** Messages that are out now. */
  readonly inFlight: number
  /** Bytes of the cursor when it was stored last. */
  readonly cursorBytes: number
  /** Ranges that the cursor had no room for: after a restart their messages are delivered again. */
  readonly cursorLeftOut: number
  /** Chains that were forgotten for want of room; the same. */
  readonly forgotten: number
}

/** How far a reader is behind. */
export interface ReaderLag {
  /** Everything with an earlier timestamp is done, by all members. */
  readonly doneBeforeMs: number
  /** Age of the oldest message that was heard of and is not done, in any member; 0 where there is none. */
  readonly oldestMs: number
}
