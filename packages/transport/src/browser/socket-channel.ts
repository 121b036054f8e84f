/// <reference lib="dom" />
import type { Cancel, Clock } from '@runnel/protocol'
import { noEvents, type Channel, type ChannelEvents } from '../connection/channel.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { TransportErrorCode } from '../errors.ts'
import { pageSuite } from '../noise/page-suite.ts'
import { maxWebSocketFrameBytes } from '../ws/ws-options.ts'
import { pageInflow } from './inflow.ts'

const noBinding = new Uint8Array(0)

/**
 * A browser fires no event when a WebSocket's buffer empties, so it is polled at this interval while above the low mark.
 */
const drainCheckMs = 10

export interface SocketChannelModules {
  readonly clock: Clock
  readonly limits: Pick<ConnectionLimits, 'lowMarkBytes'>
}

/** An open WebSocket of the browser as a channel. */
export class SocketChannel implements Channel {
  readonly kind: string
  readonly maxFrameBytes = maxWebSocketFrameBytes
  // A proxy may end TLS on the way, so there is nothing that both ends certainly see alike.
  readonly binding = noBinding
  readonly noise = pageSuite
  readonly handOn = (frame: Uint8Array, onFrame: (frame: Uint8Array) => void): void =>
    pageInflow.receive(frame, (piece) => {
      if (!this.#gone) onFrame(piece)
    })
  events: ChannelEvents = noEvents
  /** Called after `events.onClose`; the transport's. */
  onGone: () => void = () => {}
  readonly #socket: WebSocket
  readonly #modules: SocketChannelModules
  #cancelDrainCheck: Cancel | undefined
  #fault: { readonly code: TransportErrorCode; readonly text: string } | undefined
  #gone = false

  constructor(socket: WebSocket, modules: SocketChannelModules, kind = 'websocket') {
    this.kind = kind
    this.#socket = socket
    this.#modules = modules
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }: MessageEvent<unknown>) => this.#received(data)
    // An error event says nothing, and a close event follows.
    socket.onerror = null
    socket.onclose = ({ code }) => pageInflow.andThen(() => this.#closed(`the WebSocket closed with ${code}`))
  }

  get bufferedBytes(): number {
    return this.#gone ? 0 : this.#socket.bufferedAmount
  }

  send(frame: Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return
    this.#socket.send(frame)
    this.#watchDrain()
  }

  close(abrupt = false): void {
    this.#socket.close(1000)
    // A browser sends all it has before it closes, so it only needs to be left alone.
    if (abrupt) this.#modules.clock.endOfTurn(() => this.#closed('closed'))
  }

  #watchDrain(): void {
    const { clock, limits } = this.#modules
    if (this.#cancelDrainCheck || this.bufferedBytes <= limits.lowMarkBytes) return
    this.#cancelDrainCheck = clock.schedule(drainCheckMs, () => {
      this.#cancelDrainCheck = undefined
      if (this.bufferedBytes > limits.lowMarkBytes) this.#watchDrain()
      else this.events.onDrain()
    })
  }

  #received(data: unknown): void {
    if (this.#fault || this.#gone) return
    if (!(data instanceof ArrayBuffer)) return this.#refuse('PROTOCOL_VIOLATION', 'a text frame', 4003)
    if (data.byteLength > maxWebSocketFrameBytes) {
      return this.#refuse('FRAME_TOO_LARGE', `${data.byteLength} bytes`, 4009)
    }
    // Opened at once, in order; the packets in it wait for their turn.
    this.events.onFrame(new Uint8Array(data))
  }

  /**
   * A page may close only with 1000 and 3000 to 4999, so the codes of RFC 6455 are mapped: 4000 instead of 1000 as their
   * base.
   */
  #refuse(code: TransportErrorCode, text: string, closeCode: number): void {
    this.#fault = { code, text }
    this.#socket.close(closeCode)
  }

  #closed(closeText: string): void {
    if (this.#gone) return
    this.#gone = true
    this.#cancelDrainCheck?.()
    const { text, code } = this.#fault ?? { text: closeText, code: undefined }
    this.events.onClose(text, code)
    this.onGone()
  }
}
