import type { WebSocket } from 'ws'
import { noEvents, type Channel, type ChannelEvents } from '../connection/channel.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { TransportErrorCode } from '../errors.ts'
import { nodeSuite } from '../noise/node-suite.ts'
import { maxWebSocketFrameBytes } from './ws-options.ts'

const noBinding = new Uint8Array(0)

/** An open WebSocket as a channel. */
export class WsChannel implements Channel {
  readonly kind: string
  readonly maxFrameBytes = maxWebSocketFrameBytes
  // A proxy may end TLS on the way, so there is nothing that both ends certainly see alike.
  readonly binding = noBinding
  readonly noise = nodeSuite
  events: ChannelEvents = noEvents
  /** Called after `events.onClose`; the transport's. */
  onGone: () => void = () => {}
  readonly remoteAddress: string | undefined
  readonly #socket: WebSocket
  readonly #lowMarkBytes: number
  readonly #onSent = (): void => this.#sent()
  #aboveLowMark = false
  #fault: { readonly code: TransportErrorCode; readonly text: string } | undefined

  constructor(
    socket: WebSocket,
    { lowMarkBytes }: Pick<ConnectionLimits, 'lowMarkBytes'>,
    remoteAddress?: string,
    kind = 'websocket',
  ) {
    this.kind = kind
    this.remoteAddress = remoteAddress
    this.#socket = socket
    this.#lowMarkBytes = lowMarkBytes
    socket.on('message', (data, isBinary) => this.#received(data as Buffer, isBinary))
    socket.on('ping', (data) => this.#answerPing(data))
    socket.on('error', (error) => this.#failed(error))
    // Not `once`, which holds more: it closes only once.
    socket.on('close', (code) => this.#closed(code))
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  send(frame: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.send(frame, this.#onSent)
    if (this.bufferedBytes > this.#lowMarkBytes) this.#aboveLowMark = true
  }

  close(abrupt = false): void {
    if (abrupt) this.#socket.terminate()
    else this.#socket.close(1000)
  }

  /** Reads no more until `resume`; what has arrived may still come. */
  pause(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.pause()
  }

  resume(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.resume()
  }

  #sent(): void {
    if (!this.#aboveLowMark || this.bufferedBytes > this.#lowMarkBytes) return
    this.#aboveLowMark = false
    this.events.onDrain()
  }

  /** RFC 6455, section 5.5.3. A peer that pings without reading gets no answer, so that answers do not pile up. */
  #answerPing(data: Buffer): void {
    if (this.#socket.readyState === this.#socket.OPEN && !this.#aboveLowMark)
      this.#socket.pong(data, undefined, this.#onSent)
    if (this.bufferedBytes > this.#lowMarkBytes) this.#aboveLowMark = true
  }

  #received(data: Buffer, isBinary: boolean): void {
    if (this.#fault !== undefined) return
    if (isBinary) return this.events.onFrame(data)
    this.#fault = { code: 'PROTOCOL_VIOLATION', text: 'a text frame' }
    this.#socket.close(1003)
  }

  #failed(error: Error & { code?: string }): void {
    const { code = '' } = error
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
      this.#fault ??= { code: 'FRAME_TOO_LARGE', text: error.message }
    else if (code.startsWith('WS_ERR_')) this.#fault ??= { code: 'PROTOCOL_VIOLATION', text: error.message }
    else this.#fault ??= { code: 'CONNECTION_LOST', text: error.message }
  }

  #closed(closeCode: number): void {
    const { text, code } = this.#fault ?? { text: `the WebSocket closed with ${closeCode}`, code: undefined }
    this.events.onClose(text, code)
    this.onGone()
  }
}
