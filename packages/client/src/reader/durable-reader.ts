import {
  Alarm,
  isRunnelError,
  parseStreamPartId,
  type Clock,
  type NodeId,
  type ReaderCursor,
  type StreamId,
} from '@runnel/protocol'
import { deadline, throwIfAborted } from '../deadline.ts'
import { clientError } from '../errors.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { Message } from '../subscribe/message.ts'
import { CursorWriter } from './cursor-writer.ts'
import type { CursorStore } from './cursor-store.ts'
import type { ReaderCore, Delivery } from './core/reader-core.ts'
import type { Share } from './core/share.ts'
import type { Group, GroupModules } from './group.ts'
import { readerLimits } from './limits.ts'
import { isOfProcess } from './of-process.ts'
import { isFinal, ReaderFeed, type FeedListeners, type ReaderFeedModules } from './reader-feed.ts'
import type { ReaderCounters, ReaderLag, ReaderMessage } from './reader-message.ts'
import type { ReaderNews } from './reader-news.ts'
import type { ReaderOptions } from './reader-options.ts'

export interface DurableReaderOptions {
  readonly streamId: StreamId
  readonly name: string
  readonly autoAck: boolean
  readonly maxLateMs: number
  /** How many partitions the stream has. */
  readonly partitions: number
  /** No storage node has the cursor yet. */
  readonly isNew: boolean
}

export interface DurableReaderModules extends Pick<ReaderFeedModules, 'read' | 'subscribe'> {
  readonly clock: Clock
  readonly core: ReaderCore<Message>
  readonly share: Share
  readonly store: Pick<CursorStore, 'load' | 'listen' | 'write'>
  /** Makes this a member of a group; undefined where it reads everything. */
  readonly groupOf: ((onChange: GroupModules['onChange']) => Group) | undefined
  /** The stream as it is now. Throws when the user may not read it any more. */
  readonly readable: () => Promise<Pick<StreamInfo, 'partitions'>>
  readonly tagOf: (chain: Pick<Message, 'partition' | 'publisherId' | 'messageChainId'>) => string
  readonly say: (news: ReaderNews) => void
  readonly listeners: Pick<ReaderOptions, 'onGivenUp' | 'onGap' | 'onUndecodable'>
  readonly onClosed: () => void
  /** Aborted when the reader ends, so that nothing goes on that it began. */
  readonly ending: AbortController
}

/**
 * Reads a stream at least once: storage nodes keep acknowledgements, and messages without one are delivered again, also to another process. An
 * async iterable of messages, until `close`.
 */
export class DurableReader<T = unknown>
  implements AsyncIterable<ReaderMessage<T>, undefined>, AsyncDisposable
{
  readonly streamId: StreamId
  readonly name: string
  readonly #autoAck: boolean
  readonly #modules: DurableReaderModules
  readonly #writer: CursorWriter
  readonly #feed: ReaderFeed
  readonly #group: Group | undefined
  readonly #due: Alarm
  readonly #stopListening: () => void
  #waiting: (() => void)[] = []
  /** Iterations whose application has a message and has not asked for the next. */
  #atWork = 0
  #isEnding = false
  #failure: { readonly error: unknown } | undefined
  #closing: Promise<void> | undefined
  /** As many as are read. */
  #partitions: number
  #cursorBytes = 0
  #leftOut = 0

  constructor(options: DurableReaderOptions, modules: DurableReaderModules) {
    const { clock, core, store, say } = modules
    this.streamId = options.streamId
    this.name = options.name
    this.#autoAck = options.autoAck
    this.#partitions = options.partitions
    this.#modules = modules
    this.#due = new Alarm({ onDue: () => this.#expire() }, { clock })
    const onFailed = (error: unknown) => say({ state: 'failed', error })
    this.#feed = new ReaderFeed(
      { floorMs: core.floorMs, maxLateMs: options.maxLateMs },
      {
        ...{ clock, onFailed, read: modules.read, subscribe: modules.subscribe },
        signal: modules.ending.signal,
        room: () => this.#room(),
        offer: (message) => {
          if (core.offer(message, modules.tagOf(message))) this.#changed()
        },
        knows: (message) => core.knows(modules.tagOf(message), message),
        listeners: this.#listeners(),
      },
    )
    this.#group = modules.groupOf?.((others, isLess) => void this.#membersChanged(others, isLess))
    this.#writer = new CursorWriter(
      { stored: options.isNew ? -1 : core.version },
      {
        ...{ clock, onFailed, version: () => core.version },
        cursor: () => this.#cursorNow(),
        write: (cursor) => this.#write(cursor),
      },
    )
    this.#stopListening = store.listen((cursor) => this.#heard(cursor))
  }

  /** The processes that share the work, this one first. */
  get members(): readonly NodeId[] {
    return this.#modules.share.members
  }

  /** Stores the place where it begins, joins its group, and begins to read. For `client.reader`. */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#group !== undefined) {
      await this.#group.join(signal)
      this.#modules.share.others = this.#group.others
    }
    await this.#writer.flush()
    this.#feed.run().catch((error: unknown) => this.#fail(error))
  }

  /**
   * The registry may have changed: reads other partitions if the stream has others, and ends the iteration with an error if the user may no longer
   * read. For `client.reader`.
   */
  async look(): Promise<void> {
    try {
      const { partitions } = await this.#modules.readable()
      if (partitions === this.#partitions) return
      this.#partitions = partitions
      // What was published there meanwhile was heard by nobody here.
      this.#feed.again({ timestamp: this.#feed.sweptMs, sequenceNumber: 0 })
    } catch (error) {
      // While the registry does not answer, what was known applies.
      if (isFinal(error)) this.#fail(error)
    }
  }

  /** Ends the iteration with an error. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    void this.close()
  }

  [Symbol.asyncIterator](): AsyncIterator<ReaderMessage<T>, undefined> {
    let last: ReaderMessage<T> | undefined
    return {
      next: async () => {
        if (this.#autoAck) last?.ack()
        if (last !== undefined) this.#atWork--
        last = undefined
        last = await this.#next()
        if (last !== undefined) this.#atWork++
        return last === undefined ? { done: true, value: undefined } : { done: false, value: last }
      },
      return: async () => {
        await this.close()
        return { done: true, value: undefined }
      },
    }
  }

  /**
   * Resolves when a storage node has all acknowledgements made so far. Throws NOT_STORED_IN_TIME, CLIENT_CLOSED after `close`, or an error of
   * the registry; the acknowledgements are still stored later, if possible.
   */
  flush(): Promise<void> {
    return this.#writer.flush()
  }

  lag(): ReaderLag {
    const { core, clock } = this.#modules
    const pending = core.firstPending()
    const oldestMs = pending === undefined ? 0 : Math.max(0, clock.now() - pending.timestamp)
    return { doneBeforeMs: core.floorMs, oldestMs }
  }

  counters(): ReaderCounters {
    const { core } = this.#modules
    return {
      ...core.counters,
      ...{ inFlight: core.inFlight, cursorBytes: this.#cursorBytes, cursorLeftOut: this.#leftOut },
    }
  }

  /** Closes when each loop is done with the message that it is at, or that is due again: its acknowledgement counts. For `client.reader`. */
  end(): void {
    this.#isEnding = true
    this.#changed()
    this.#endIfDone()
  }

  /** An iteration that is left alone asks for no next message: then what it has acknowledged is what it is done with. */
  #endIfDone(): void {
    if (this.#isEnding && (this.#atWork === 0 || this.#modules.core.dueMs === Infinity)) void this.close()
  }

  /** Takes no more messages, stores acknowledgements, leaves its share to other members, and ends the iteration. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const { clock, ending, onClosed } = this.#modules
    this.#changed()
    if (this.#failure === undefined) {
      const limited = deadline(clock, readerLimits.cursorStoredMs)
      const flushed = this.#writer.flush().catch(() => {
        // No storage node has it: it is delivered again.
      })
      await Promise.race([flushed, aborted(limited.signal)])
      limited.end()
    }
    this.#writer.close(clientError('CLIENT_CLOSED', 'or this reader'))
    ending.abort()
    this.#due.set(Infinity)
    this.#stopListening()
    this.#group?.close()
    onClosed()
  }

  async #next(): Promise<ReaderMessage<T> | undefined> {
    const { core, clock } = this.#modules
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure.error
      if (this.#isEnding && this.#atWork === 0) await this.close()
      if (this.#isEnding || this.#closing !== undefined) return undefined
      const waiting = core.inFlight
      const delivery = core.take(clock.monotonicMs())
      if (delivery !== undefined) {
        this.#lookAt(delivery.dueMs)
        return this.#messageOf(delivery)
      }
      // What has become another member's has made room, which the feed waits for.
      if (core.inFlight < waiting) this.#changed()
      await this.#change()
    }
  }

  #messageOf(delivery: Delivery<Message>): ReaderMessage<T> {
    const { core, clock, ending } = this.#modules
    const { deliveries } = delivery
    return {
      ...(delivery.message as Message<T>),
      deliveries,
      ack: () => {
        if (ending.signal.aborted) return
        core.acknowledge(delivery)
        this.#writer.touch()
        this.#changed()
        this.#endIfDone()
      },
      nack: ({ delayMs = 0 } = {}) => {
        // No clock goes off at such a time, and others would be looked at all the while.
        if (!(delayMs >= 0 && delayMs < Infinity))
          throw clientError('INVALID_ARGUMENT', 'delayMs is a finite number from 0')
        // Of an earlier delivery it says nothing.
        if (delivery.deliveries !== deliveries) return
        const dueMs = clock.monotonicMs() + delayMs
        core.refuse(delivery, dueMs)
        this.#lookAt(dueMs)
      },
    }
  }

  /** Resolves when something may have changed. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #changed(): void {
    for (const go of this.#waiting.splice(0)) go()
  }

  async #room(): Promise<void> {
    const { core, ending } = this.#modules
    while (!core.hasRoom && !ending.signal.aborted) await this.#change()
  }

  #lookAt(dueMs: number): void {
    this.#due.set(Math.min(this.#due.dueMs, dueMs))
  }

  #expire(): void {
    const { core, clock, say, listeners } = this.#modules
    const { redelivered, givenUp } = core.expire(clock.monotonicMs())
    for (const { message } of redelivered) say({ state: 'redelivered', message })
    for (const { message } of givenUp) {
      say({ state: 'given-up', message })
      this.#inform(() => listeners.onGivenUp?.(message))
    }
    if (givenUp.length > 0) this.#writer.touch()
    this.#due.set(core.dueMs)
    this.#changed()
    this.#endIfDone()
  }

  #listeners(): FeedListeners {
    const { core, tagOf, listeners } = this.#modules
    return {
      onGap: (gap) => this.#inform(() => listeners.onGap?.(gap)),
      onUndecodable: (found) => {
        if (isOfProcess(found.error)) return this.#feed.putOff(found.ref, found.error)
        const { partition } = parseStreamPartId(found.streamPartId)
        // Where it was in its chain is not said: it counts for itself.
        core.skip({ ...found.ref, previous: undefined }, tagOf({ partition, ...found }))
        this.#writer.touch()
        this.#inform(() => listeners.onUndecodable?.(found))
      },
    }
  }

  /** What a callback throws ends nothing. */
  #inform(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#modules.say({ state: 'failed', error })
    }
  }

  /** With the floor as high as it may be. */
  #cursorNow() {
    const { core, say } = this.#modules
    core.swept(this.#feed.sweptMs)
    const { cursor, leftOut } = core.cursor()
    if (leftOut > 0 && this.#leftOut === 0) say({ state: 'cursor-full', leftOut })
    this.#leftOut = leftOut
    return { cursor, version: core.version }
  }

  async #write(cursor: ReaderCursor): Promise<void> {
    const { store, ending } = this.#modules
    await this.look()
    // Who has left the key part does not join it again for this.
    throwIfAborted(ending.signal)
    const { bytes } = await store.write(cursor, this.#group?.slot ?? 0, ending.signal)
    this.#cursorBytes = bytes
  }

  #heard(cursor: ReaderCursor): void {
    const { core, say } = this.#modules
    if (core.join(cursor) === 'reset') {
      this.#feed.beginAt(core.floorMs)
      // What was written here at the same time, of before, may have taken its place.
      this.#writer.touch()
      say({ state: 'reset' })
    }
    this.#changed()
  }

  /** Whoever went may have left messages that are this one's now, and have said what it was done with. */
  async #membersChanged(others: readonly NodeId[], isLess: boolean): Promise<void> {
    const { core, share, store, say, ending } = this.#modules
    share.others = others
    say({ state: 'members', members: share.members })
    if (!isLess) return
    try {
      for (const cursor of await store.load(ending.signal)) this.#heard(cursor)
    } catch (error) {
      // Then some are delivered twice.
      if (!isRunnelError(error)) throw error
      if (!ending.signal.aborted) say({ state: 'failed', error })
    }
    const pending = core.firstPending()
    if (pending !== undefined) this.#feed.again(pending)
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
