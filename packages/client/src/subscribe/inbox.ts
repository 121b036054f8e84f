import type { StreamId, StreamMessage } from '@runnel/protocol'
import { decodeMessage, type Decoding } from '../content/decode.ts'
import { OpeningBudget } from '../content/opening-budget.ts'
import { clientError } from '../errors.ts'
import { BoundedQueue, type BoundedQueueLimits } from '../queue/bounded-queue.ts'
import type { Message } from './message.ts'

/** Called for each message. If it returns a promise, the promise is awaited before the next message; errors become a status. */
export type OnMessage<T = unknown> = (message: Message<T>) => unknown

export interface InboxOptions extends BoundedQueueLimits {
  readonly decoding: Decoding
}

export interface InboxEvents {
  /** The application is too slow for this stream, at least; so many messages were dropped by now. */
  slow(streamId: StreamId, dropped: number): void
  callbackFailed(streamId: StreamId, error: unknown): void
}

/** Where opened messages of one stream or of many are decoded and wait for the application. When there are too many, the oldest make room. */
export class Inbox {
  /** Of messages on their way here. */
  readonly opening: OpeningBudget
  readonly decoding: Decoding
  readonly #queue: BoundedQueue<Message>
  readonly #events: InboxEvents
  readonly #counters = { delivered: 0, dropped: 0, callbackFailures: 0 }
  #writers = 0
  #isClosing = false
  #failure: Error | undefined
  #hasCallback = false
  #slow = false

  constructor(options: InboxOptions, modules: { readonly events: InboxEvents }) {
    this.decoding = options.decoding
    this.opening = new OpeningBudget(options)
    this.#queue = new BoundedQueue(options)
    this.#events = modules.events
  }

  counters(): Readonly<Record<'delivered' | 'dropped' | 'callbackFailures', number>> {
    return { ...this.#counters }
  }

  /** Content becomes bytes, text or a value. `sealed` is the message as it came. Throws what `decodeMessage` throws. */
  push(message: StreamMessage, sealed: StreamMessage): void {
    const decoded = decodeMessage(message, this.decoding, sealed)
    this.noteDropped(message.streamId, this.#queue.push(decoded, message.content.length))
  }

  noteDropped(streamId: StreamId, dropped: number): void {
    if (dropped === 0) return
    this.#counters.dropped += dropped
    if (this.#slow) return
    this.#slow = true
    this.#events.slow(streamId, this.#counters.dropped)
  }

  /** Resolves when most of the messages are opened, and the application has taken most of those. */
  async room(): Promise<void> {
    await this.opening.room()
    await this.#queue.room()
  }

  /** Delivers to a callback from now on. */
  async deliverTo(onMessage: OnMessage): Promise<void> {
    this.#hasCallback = true
    for (;;) {
      const { done, value } = await this.#next()
      if (done) return
      try {
        await onMessage(value)
      } catch (error) {
        this.#counters.callbackFailures++
        this.#events.callbackFailed(value.streamId, error)
      }
    }
  }

  /** `end` is called when the loop is left. Throws INVALID_ARGUMENT when there is a callback. */
  iterate(end: () => Promise<void>): AsyncIterator<Message, undefined> {
    if (this.#hasCallback) {
      throw clientError('INVALID_ARGUMENT', 'a subscription with a callback cannot be iterated over')
    }
    return {
      next: () => this.#next(),
      return: async () => {
        await end()
        return { done: true, value: undefined }
      },
    }
  }

  /** Somebody will push, until it calls what is returned, once. */
  enter(): () => void {
    this.#writers++
    return () => {
      this.#writers--
      this.#closeIfDone()
    }
  }

  /** As `close`, but an iteration throws the error after what is queued. */
  fail(error: Error): void {
    this.#failure = error
    this.close()
  }

  /** Ends when nobody pushes any more; what is queued can still be taken. Idempotent. */
  close(): void {
    this.#isClosing = true
    this.#closeIfDone()
  }

  #closeIfDone(): void {
    if (this.#isClosing && this.#writers === 0) this.#queue.close()
  }

  async #next(): Promise<IteratorResult<Message, undefined>> {
    const result = await this.#queue.next()
    if (!result.done) this.#counters.delivered++
    else if (this.#failure !== undefined && !this.#hasCallback) throw this.#failure
    if (this.#queue.length === 0) this.#slow = false
    return result
  }
}
