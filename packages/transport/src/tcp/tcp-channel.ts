import type { Socket } from 'node:net'
import { isRunnelError, maxPacketBytes } from '@runnel/protocol'
import { noEvents, type ChannelEvents } from '../connection/channel.ts'
import type { PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionLimits } from '../connection/limits.ts'
import type { TransportErrorCode } from '../errors.ts'
import { nodeSuite } from '../noise/node-suite.ts'
import { tagBytes } from '@runnel/protocol'
import { FrameReader, headerOf } from './frame-reader.ts'

const noBinding = new Uint8Array(0)

/** An open TCP socket as a channel: each frame follows its length. */
export class TcpChannel implements PooledChannel {
  readonly kind = 'tcp'
  // The largest packet is one frame, sealed.
  readonly maxFrameBytes = maxPacketBytes + tagBytes
  readonly binding = noBinding
  readonly noise = nodeSuite
  readonly remoteAddress: string | undefined
  events: ChannelEvents = noEvents
  onGone: () => void = () => {}
  readonly #socket: Socket
  readonly #lowMarkBytes: number
  readonly #reader = new FrameReader(this.maxFrameBytes, (frame) => this.events.onFrame(frame))
  readonly #onSent = (): void => this.#sent()
  #aboveLowMark = false
  #text = 'the other side closed the socket'
  #code: TransportErrorCode | undefined

  constructor(socket: Socket, { lowMarkBytes }: Pick<ConnectionLimits, 'lowMarkBytes'>) {
    this.#socket = socket
    this.#lowMarkBytes = lowMarkBytes
    this.remoteAddress = socket.remoteAddress
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
    socket.on('error', ({ message }) => (this.#text = message))
    socket.once('close', () => {
      this.events.onClose(this.#text, this.#code)
      this.onGone()
    })
  }

  get bufferedBytes(): number {
    return this.#socket.writableLength
  }

  send(frame: Uint8Array): void {
    if (!this.#socket.writable) return
    // Corked, both leave in one segment.
    this.#socket.cork()
    this.#socket.write(headerOf(frame))
    this.#socket.write(frame, this.#onSent)
    this.#socket.uncork()
    if (this.bufferedBytes > this.#lowMarkBytes) this.#aboveLowMark = true
  }

  close(abrupt = false): void {
    if (abrupt) this.#socket.destroy()
    else this.#socket.end()
  }

  #sent(): void {
    if (!this.#aboveLowMark || this.bufferedBytes > this.#lowMarkBytes) return
    this.#aboveLowMark = false
    this.events.onDrain()
  }

  #received(chunk: Buffer): void {
    try {
      this.#reader.read(chunk)
    } catch (error) {
      if (!isRunnelError(error)) throw error
      this.#text = error.message
      this.#code = 'FRAME_TOO_LARGE'
      this.#socket.destroy()
    }
  }
}
