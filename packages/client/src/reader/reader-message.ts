import type { Message } from '../subscribe/message.ts'

/** A message to acknowledge. */
export interface ReaderMessage<T = unknown> extends Message<T> {
  /** How often this process has got the message, including this time; from 1. */
  readonly deliveries: number
  /**
   * Marks the message as done. It is not delivered again once that is stored: within about a second, at `close`, or with `flush`. Idempotent.
   */
  ack(): void
  /** Marks the message as not done: it is delivered again after `delayMs` (default 0). Throws INVALID_ARGUMENT. */
  nack(options?: { readonly delayMs?: number }): void
}

/** What a reader has done so far, in this process. */
export interface ReaderCounters {
  /** Messages that the application took, each counted once. */
  readonly delivered: number
  /** Repeated deliveries of the same messages. */
  readonly redelivered: number
  readonly acknowledged: number
  /** Messages that were delivered too often or cannot be read. */
  readonly givenUp: number
  /** Messages delivered and not yet acknowledged. */
  readonly inFlight: number
  /** Size of the cursor in bytes when it was last stored. */
  readonly cursorBytes: number
  /** Ranges for which the cursor had no room: after a restart their messages are delivered again. */
  readonly cursorLeftOut: number
  /** Chains forgotten for lack of room; their messages are delivered again, too. */
  readonly forgotten: number
}

/** How far a reader is behind. */
export interface ReaderLag {
  /** All members are done with everything that has an earlier timestamp. */
  readonly doneBeforeMs: number
  /** Age of the oldest message that any member has heard of and not finished; 0 if there is none. */
  readonly oldestMs: number
}
