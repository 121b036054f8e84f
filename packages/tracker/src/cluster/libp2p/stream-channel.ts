import type { Stream } from '@libp2p/interface'
import { nodeSuite, type ChannelEvents, type PooledChannel } from '@runnel/transport'

const noBinding = new Uint8Array(0)
const lengthBytes = 4

/** Who waits for a first frame. */
interface Reader {
  resolve(frame: Uint8Array): void
  reject(error: Error): void
}

/**
 * A stream between two trackers as the channel of a circuit: frames behind their lengths, as u32. Until somebody listens they
 * wait, one at most.
 */
export class StreamChannel implements PooledChannel {
  readonly kind = 'websocket'
  readonly binding = noBinding
  readonly noise: PooledChannel['noise'] = nodeSuite
  readonly maxFrameBytes: number
  /** Names the tracker that carries it; undefined at that tracker. */
  readonly remoteAddress: string | undefined
  onGone: () => void = () => {}
  readonly #stream: Stream
  #events: ChannelEvents | undefined
  #reader: Reader | undefined
  #unread: Uint8Array = new Uint8Array(0)
  #isClosed = false

  constructor(
    stream: Stream,
    options: { readonly maxFrameBytes: number; readonly remoteAddress?: string | undefined },
  ) {
    this.#stream = stream
    this.maxFrameBytes = options.maxFrameBytes
    this.remoteAddress = options.remoteAddress
    stream.addEventListener('message', ({ data }) => {
      this.#unread = joined(this.#unread, data instanceof Uint8Array ? data : data.subarray())
      this.#read()
    })
    stream.addEventListener('drain', () => this.#events?.onDrain())
    stream.addEventListener('end', () => this.close())
    stream.addEventListener('close', () => this.#closed())
  }

  get events(): ChannelEvents {
    return this.#events ?? { onFrame() {}, onDrain() {}, onClose() {} }
  }

  set events(events: ChannelEvents) {
    this.#events = events
    if (this.#isClosed) queueMicrotask(() => events.onClose('the circuit is closed'))
    else this.#read()
  }

  get bufferedBytes(): number {
    return this.#stream.writeBufferLength
  }

  /** The first frame, which no listener gets. Rejects when the stream closes before it comes. */
  first(signal: AbortSignal): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    this.#reader = { resolve, reject }
    signal.addEventListener('abort', () => reject(new Error('it takes too long')), { once: true })
    this.#read()
    return promise
  }

  send(frame: Uint8Array): void {
    if (this.#stream.status !== 'open') return
    const bytes = new Uint8Array(lengthBytes + frame.length)
    new DataView(bytes.buffer).setUint32(0, frame.length)
    bytes.set(frame, lengthBytes)
    try {
      this.#stream.send(bytes)
    } catch {
      // It closes at this moment, and says so by itself.
    }
  }

  close(abrupt = false): void {
    if (abrupt) this.#stream.abort(new Error('the circuit was cut'))
    else this.#stream.close().catch(() => this.#stream.abort(new Error('the circuit does not close')))
  }

  #read(): void {
    for (;;) {
      const { length: available } = this.#unread
      if (available < lengthBytes) return
      const { buffer, byteOffset } = this.#unread
      const end = lengthBytes + new DataView(buffer, byteOffset).getUint32(0)
      if (end > lengthBytes + this.maxFrameBytes) return this.close(true)
      if (this.#reader === undefined && this.#events === undefined) {
        if (available > lengthBytes + this.maxFrameBytes) this.close(true)
        return
      }
      if (available < end) return
      const frame = this.#unread.slice(lengthBytes, end)
      this.#unread = this.#unread.subarray(end)
      const reader = this.#reader
      this.#reader = undefined
      if (reader === undefined) this.#events?.onFrame(frame)
      else reader.resolve(frame)
    }
  }

  #closed(): void {
    this.#isClosed = true
    this.#reader?.reject(new Error('it was closed'))
    this.#events?.onClose('the circuit is closed')
    this.onGone()
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
