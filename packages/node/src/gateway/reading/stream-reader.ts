import type {
  HistorySelection,
  Message,
  MessageGap,
  RunnelClient,
  Subscription,
  UndecodableMessage,
} from '@runnel/client'
import {
  isRunnelError,
  parseStreamPartId,
  type Clock,
  type RunnelError,
  type StreamId,
} from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { gatewayLimits } from '../limits.ts'
import { CursorKeeper } from './cursor-keeper.ts'
import { beginOf, decodeCursor, type Cursor } from './cursor.ts'

/** What to read, and from where on; live where nothing is said. */
export interface ReadOptions {
  readonly streamId: StreamId
  readonly partitions?: readonly number[] | undefined
  /** Go on after what a reader had. */
  readonly cursor?: string | undefined
  /** Begin with stored messages. */
  readonly resend?: HistorySelection | undefined
}

/** Where a reader's messages go. */
export interface ReaderSink<Frame> {
  /** A message as it will be sent, and its bytes. Throws nothing. */
  frame(message: Message): { readonly frame: Frame; readonly bytes: number }
  /** Resolves when there is room for the next. */
  send(frame: Frame, cursor: string): Promise<void> | undefined
  /** These messages did not come, and will not. */
  gap(gap: MessageGap): void
  /** So many messages, of which this is the last, cannot be opened or decoded, and are left out. Resolves when there is room for the next. */
  undecodable(last: UndecodableMessage, count: number): Promise<void> | undefined
  /** What was published since the cursor cannot be read: it goes on live. */
  lost(error: RunnelError): void
  /** No more comes; with the reason where that is not the reader's wish. */
  ended(error: unknown): void
}

interface Waiting<Frame> {
  readonly message: Message
  readonly arrivedMs: number
  readonly isLive: boolean
  readonly frame: Frame
  readonly bytes: number
}

export interface StreamReaderModules<Frame> {
  readonly client: Pick<RunnelClient, 'subscribe'>
  readonly sink: ReaderSink<Frame>
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Reads a stream for one client of a gateway, with a cursor beside each message. While history is read, it waits for the reader; live, what
 * waits is bounded, and a reader that is slower is ended: with its last cursor it goes on from storage.
 */
export class StreamReader<Frame> {
  readonly #options: ReadOptions
  readonly #modules: StreamReaderModules<Frame>
  readonly #queue: Waiting<Frame>[] = []
  readonly #cursor: CursorKeeper
  readonly #start: Cursor | undefined
  #subscription: Subscription | undefined
  #queuedBytes = 0
  #isSending = false
  #isLive = false
  #isEnded = false
  /** It waited for its reader: meanwhile the client may have dropped live messages. */
  #hasWaited = false
  #wake: () => void = () => {}
  /** Messages left out that the reader is not told of yet, and the last of them. */
  #leftOut = 0
  #lastLeftOut: UndecodableMessage | undefined
  #isTelling = false

  /** Throws GATEWAY_CURSOR_INVALID. */
  constructor(options: ReadOptions, modules: StreamReaderModules<Frame>) {
    const { streamId, cursor } = options
    this.#options = options
    this.#modules = modules
    this.#start = cursor === undefined ? undefined : decodeCursor(streamId, cursor)
    const isLive = cursor === undefined && options.resend === undefined
    this.#cursor = new CursorKeeper(gatewayLimits, this.#start, isLive ? modules.clock.now() : undefined)
  }

  /** Where a reader can go on from that got nothing yet; undefined where that is not known. */
  get cursor(): string | undefined {
    return this.#cursor.text(this.#options.streamId)
  }

  /** Resolves when it reads. Throws what `subscribe` throws. */
  async start(): Promise<void> {
    const resend = this.#start === undefined ? this.#options.resend : { from: beginOf(this.#start) }
    try {
      await this.#subscribe(resend)
    } catch (error) {
      if (this.#start === undefined || !isRunnelError(error, 'NO_STORAGE_NODE')) throw error
      this.#modules.sink.lost(error)
      await this.#subscribe(undefined)
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isEnded = true
    this.#queue.length = 0
    this.#wake()
    await this.#subscription?.unsubscribe()
  }

  async #subscribe(resend: HistorySelection | undefined): Promise<void> {
    const { streamId, partitions } = this.#options
    const { client, sink } = this.#modules
    const subscription = await client.subscribe(
      streamId,
      {
        partitions,
        resend,
        onGap: (gap) => sink.gap(gap),
        onUndecodable: (found) => void this.#leaveOut(found),
        onHistoryFailed: (error) => this.#end(error),
        onEnded: (error) => this.#end(error),
      },
      (message) => this.#arrived(message),
    )
    this.#subscription = subscription
    if (this.#isEnded) return subscription.unsubscribe()
    const live = () => void (this.#isLive = true)
    // What failed was told already.
    subscription.caughtUp().then(live, () => {})
  }

  #arrived(message: Message): Promise<void> | undefined {
    if (this.#isEnded || !this.#cursor.isNew(message)) return undefined
    if (this.#hasWaited && (this.#subscription?.counters().dropped ?? 0) > 0) {
      this.#end(nodeError('GATEWAY_READER_SLOW', 'messages were dropped'))
      return undefined
    }
    this.#hasWaited = false
    const { frame, bytes } = this.#modules.sink.frame(message)
    const arrivedMs = this.#modules.clock.now()
    this.#queue.push({ message, arrivedMs, isLive: this.#isLive, frame, bytes })
    this.#queuedBytes += bytes
    if (!this.#isSending) void this.#send()
    if (!this.#isFull) return undefined
    if (!this.#isLive) {
      this.#hasWaited = true
      return new Promise((resolve) => (this.#wake = resolve))
    }
    this.#end(nodeError('GATEWAY_READER_SLOW', `${this.#queue.length} messages wait`))
    return undefined
  }

  /** Of one at a time: while the reader does not take it, those that follow are counted. */
  async #leaveOut(found: UndecodableMessage): Promise<void> {
    if (!this.#cursor.isNew({ ...found, ...parseStreamPartId(found.streamPartId), ...found.ref })) return
    this.#leftOut++
    this.#lastLeftOut = found
    if (this.#isTelling) return
    this.#isTelling = true
    for (let last; !this.#isEnded && (last = this.#lastLeftOut) !== undefined;) {
      const count = this.#leftOut
      this.#leftOut = 0
      this.#lastLeftOut = undefined
      await this.#modules.sink.undecodable(last, count)
    }
    this.#isTelling = false
  }

  get #isFull(): boolean {
    const { maxQueuedMessages, maxQueuedBytes } = gatewayLimits
    return this.#queue.length > maxQueuedMessages || this.#queuedBytes > maxQueuedBytes
  }

  async #send(): Promise<void> {
    this.#isSending = true
    for (;;) {
      const next = this.#queue.shift()
      if (next === undefined) break
      this.#queuedBytes -= next.bytes
      if (!this.#isFull) this.#wake()
      this.#cursor.deliver(next.message, next.arrivedMs, next.isLive)
      const sent = this.#modules.sink.send(next.frame, this.#cursor.text(this.#options.streamId) ?? '')
      if (sent !== undefined) await sent
    }
    this.#isSending = false
  }

  #end(error: unknown): void {
    if (this.#isEnded) return
    void this.stop()
    this.#modules.sink.ended(error)
  }
}
