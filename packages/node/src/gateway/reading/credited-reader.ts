import { isRunnelError } from '@runnel/protocol'
import { StreamReader, type ReadOptions, type StreamReaderModules } from './stream-reader.ts'

export interface CreditedReaderModules<Frame> extends StreamReaderModules<Frame> {
  /** It reads no further until its client grants more: what comes meanwhile is left to storage. */
  readonly parked: () => void
}

/**
 * Reads a stream for a client that says how many messages it takes. Without credit the reader waits; when more waits than may, it lets go
 * of the stream, and goes on from storage after the last message that was sent, once there is credit. Nothing is lost where the stream has
 * storage nodes; else the client is told with `lost`.
 */
export class CreditedReader<Frame> {
  readonly #options: ReadOptions
  readonly #modules: CreditedReaderModules<Frame>
  #reader: StreamReader<Frame>
  #credit: number
  /** After the last message that was sent. */
  #cursor: string | undefined
  /** Goes on with the message that waits for credit, or drops it. */
  #settle: ((isGranted: boolean) => void) | undefined
  #isParked = false
  #isStopped = false

  /** `credit` is Infinity for a client that takes all. Throws GATEWAY_CURSOR_INVALID. */
  constructor(options: ReadOptions, credit: number, modules: CreditedReaderModules<Frame>) {
    this.#options = options
    this.#modules = modules
    this.#credit = credit
    this.#reader = this.#open(options)
  }

  /** Where a reader can go on from that got nothing yet; undefined where that is not known. */
  get cursor(): string | undefined {
    return this.#cursor
  }

  /** Resolves when it reads. Throws what `subscribe` throws. */
  async start(): Promise<void> {
    this.#cursor = this.#reader.cursor
    await this.#reader.start()
  }

  /** So many messages more may be sent. */
  grant(messages: number): void {
    this.#credit += messages
    this.#settle?.(true)
    if (this.#isParked) this.#resume()
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#settle?.(false)
    await this.#reader.stop()
  }

  #open(options: ReadOptions): StreamReader<Frame> {
    const { sink } = this.#modules
    return new StreamReader(options, {
      ...this.#modules,
      sink: {
        ...sink,
        send: (frame, cursor) => this.#send(frame, cursor),
        ended: (error) => this.#ended(error),
      },
    })
  }

  #send(frame: Frame, cursor: string): Promise<void> | undefined {
    if (this.#credit > 0) return this.#pass(frame, cursor)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#settle = resolve
    return promise.then((isGranted) => {
      this.#settle = undefined
      return isGranted ? this.#pass(frame, cursor) : undefined
    })
  }

  #pass(frame: Frame, cursor: string): Promise<void> | undefined {
    this.#credit--
    this.#cursor = cursor
    return this.#modules.sink.send(frame, cursor)
  }

  #ended(error: unknown): void {
    const isOutOfCredit = this.#settle !== undefined && isRunnelError(error, 'GATEWAY_READER_SLOW')
    this.#settle?.(false)
    if (!isOutOfCredit || this.#cursor === undefined) return this.#modules.sink.ended(error)
    this.#isParked = true
    this.#modules.parked()
    // There may be credit since.
    if (this.#credit > 0) this.#resume()
  }

  #resume(): void {
    const { streamId, partitions } = this.#options
    this.#isParked = false
    if (this.#isStopped) return
    this.#reader = this.#open({ streamId, partitions, cursor: this.#cursor })
    this.#reader.start().catch((error: unknown) => {
      if (!this.#isStopped) this.#modules.sink.ended(error)
    })
  }
}
