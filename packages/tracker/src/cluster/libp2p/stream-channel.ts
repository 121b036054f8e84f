import type { Stream } from '@libp2p/interface'
import { maxPacketBytes, tagBytes } from '@runnel/protocol'
import { FrameReader, headerOf, nodeSuite, type ChannelEvents, type PooledChannel } from '@runnel/transport'

const noBinding = new Uint8Array(0)

/** The largest frame of a link: a packet, sealed. */
const linkFrameBytes = maxPacketBytes + tagBytes

/** The reader that waits for the first frame. */
interface FirstReader {
  resolve(frame: Uint8Array): void
  reject(error: Error): void
}

/**
 * A stream between two trackers as the channel of a circuit: frames prefixed by their lengths, as on TCP. Frames wait until a
 * listener is set, up to a limit in bytes.
 */
export class StreamChannel implements PooledChannel {
  readonly kind = 'websocket'
  readonly binding = noBinding
  readonly noise: PooledChannel['noise'] = nodeSuite
  readonly maxFrameBytes: number
  /** Names the tracker that carries it; undefined at that tracker. */
  readonly remoteAddress: string | undefined
  #onGone: () => void = () => {}
  readonly #stream: Stream
  #events: ChannelEvents | undefined
  #first: FirstReader | undefined
  /** Frames that wait for a listener, and their bytes. */
  #early: Uint8Array[] = []
  #earlyBytes = 0
  #isClosed = false

  constructor(
    stream: Stream,
    options: { readonly maxFrameBytes: number; readonly remoteAddress?: string | undefined },
  ) {
    this.#stream = stream
    // Above what may wait, and a frame: the stream itself should never be what refuses.
    stream.maxWriteBufferLength = 2 * options.maxFrameBytes + linkFrameBytes
    this.maxFrameBytes = options.maxFrameBytes
    this.remoteAddress = options.remoteAddress
    // What is sent onto the circuit at its other end, as a WebSocket, may be larger than what is sent here.
    const reader = new FrameReader(linkFrameBytes, (frame) => this.#received(frame.slice()))
    stream.addEventListener('message', ({ data }) => {
      const { buffer, byteOffset, byteLength } = data instanceof Uint8Array ? data : data.subarray()
      try {
        reader.read(Buffer.from(buffer, byteOffset, byteLength))
      } catch {
        this.close(true)
      }
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
    else for (const frame of this.#takeEarly()) events.onFrame(frame)
  }

  get onGone(): () => void {
    return this.#onGone
  }

  /** It may be gone before whoever opened it has it. */
  set onGone(onGone: () => void) {
    this.#onGone = onGone
    if (this.#isClosed) queueMicrotask(onGone)
  }

  get bufferedBytes(): number {
    return this.#stream.writeBufferLength
  }

  /** The first frame, which no listener gets. Rejects when the stream closes before. */
  first(signal: AbortSignal): Promise<Uint8Array> {
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
    this.#first = { resolve, reject }
    signal.addEventListener('abort', () => reject(new Error('timed out')), { once: true })
    for (const frame of this.#takeEarly()) this.#received(frame)
    return promise
  }

  send(frame: Uint8Array): void {
    if (this.#stream.status !== 'open') return
    try {
      this.#stream.send(Buffer.concat([headerOf(frame), frame]))
    } catch {
      // It is closing at this moment, and reports that itself.
    }
  }

  close(abrupt = false): void {
    if (abrupt) this.#stream.abort(new Error('the circuit was cut'))
    else this.#stream.close().catch(() => this.#stream.abort(new Error('the circuit does not close')))
  }

  #received(frame: Uint8Array): void {
    const first = this.#first
    this.#first = undefined
    if (first !== undefined) return first.resolve(frame)
    if (this.#events !== undefined) return this.#events.onFrame(frame)
    this.#early.push(frame)
    this.#earlyBytes += frame.length
    if (this.#earlyBytes > this.maxFrameBytes) this.close(true)
  }

  #takeEarly(): Uint8Array[] {
    this.#earlyBytes = 0
    return this.#early.splice(0)
  }

  #closed(): void {
    this.#isClosed = true
    this.#first?.reject(new Error('the stream closed'))
    this.#events?.onClose('the circuit is closed')
    this.#onGone()
  }
}
