import type { Clock } from '@runnel/protocol'
import { noEvents, type Channel, type ChannelEvents } from '../connection/channel.ts'
import type { TransportErrorCode } from '../errors.ts'
import type { LinkPath } from '../ports.ts'
import {
  maxDataChannelFrameBytes,
  type DataChannelPort,
  type LaneLabel,
  type PeerConnectionPort,
} from './peer-connection-port.ts'
import { RtcLane } from './rtc-lane.ts'

/** The message that announces the end of everything sent. */
const endMessage = new Uint8Array(0)

/**
 * How long the path is not looked up again: that takes the library 80 µs in Node, and a node tells trackers each link's once for every stream
 * part that uses it.
 */
const pathKeptMs = 1_000

export interface RtcChannelOptions {
  readonly channel: DataChannelPort
  readonly peerConnection: PeerConnectionPort
  readonly binding: Uint8Array
}

/**
 * A data channel, and the peer connection that it and its lanes use, as a Channel.
 *
 * Closing a peer connection discards what is still in flight, and there is no event for when all of it has arrived. So the side
 * that closes sends an empty message last, and the side that gets it, having got everything, closes the peer connection.
 */
export class RtcChannel implements Channel {
  readonly kind = 'webrtc'
  readonly maxFrameBytes = maxDataChannelFrameBytes
  readonly binding: Uint8Array
  readonly datagrams: RtcLane
  readonly lossy: RtcLane
  events: ChannelEvents = noEvents
  /** Called after `events.onClose`; the transport's. */
  onGone: () => void = () => {}
  readonly #channel: DataChannelPort
  readonly #peerConnection: PeerConnectionPort
  readonly #clock: Clock
  #path: { readonly value: LinkPath | undefined; readonly sinceMs: number } | undefined
  #state: 'open' | 'closing' | 'closed' = 'open'

  constructor(options: RtcChannelOptions, modules: { clock: Clock }) {
    this.#channel = options.channel
    this.#peerConnection = options.peerConnection
    this.binding = options.binding
    this.datagrams = new RtcLane('urgent', options.peerConnection)
    this.lossy = new RtcLane('lossy', options.peerConnection)
    this.#clock = modules.clock
    this.#channel.events = {
      onMessage: (message) => this.#received(message),
      onText: () => this.gone('a text message', 'PROTOCOL_VIOLATION'),
      onLow: () => this.events.onDrain(),
      onClose: () => this.gone('the data channel closed'),
    }
  }

  /** A data channel of a lane has opened. */
  addToLane(label: LaneLabel, channel: DataChannelPort): void {
    const lane = label === 'urgent' ? this.datagrams : this.lossy
    lane.add(channel)
  }

  get path(): LinkPath | undefined {
    if (this.#state !== 'open') return undefined
    const nowMs = this.#clock.monotonicMs()
    if (this.#path === undefined || nowMs - this.#path.sinceMs >= pathKeptMs)
      this.#path = { value: this.#peerConnection.path, sinceMs: nowMs }
    return this.#path.value
  }

  get remoteAddress(): string | undefined {
    return this.#state === 'closed' ? undefined : this.#peerConnection.remoteAddress
  }

  get fullBytes(): number | undefined {
    return this.#channel.fullBytes
  }

  get bufferedBytes(): number {
    return this.#state === 'closed' ? 0 : this.#channel.bufferedBytes
  }

  send(frame: Uint8Array): void {
    if (this.#state === 'open') this.#send(frame)
  }

  close(abrupt = false): void {
    if (abrupt) return this.gone('closed')
    if (this.#state !== 'open') return
    this.#state = 'closing'
    this.#send(endMessage)
  }

  /** Closes the peer connection, unless it is closed already. */
  gone(text: string, code?: TransportErrorCode): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    for (const lane of [this.datagrams, this.lossy]) lane.close()
    this.#peerConnection.close()
    this.events.onClose(text, code)
    this.onGone()
  }

  #send(message: Uint8Array): void {
    try {
      this.#channel.send(message)
    } catch (error) {
      // Later, because no caller expects a channel to close during a send.
      this.#clock.endOfTurn(() => this.gone(`could not send: ${String(error)}`))
    }
  }

  #received(message: Uint8Array): void {
    if (message.length === 0) this.gone('the other side closed')
    else this.events.onFrame(message)
  }
}
