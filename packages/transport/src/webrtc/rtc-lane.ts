import type { DatagramLane } from '../connection/channel.ts'
import type { DataChannelPort, PeerConnectionPort } from './peer-connection-port.ts'

/**
 * The lane for datagrams of a peer connection: a second data channel, unordered and without retransmissions. When both sides open it at once
 * there are two, and each side sends by the one that opened first for it.
 */
export class RtcLane implements DatagramLane {
  onFrame: (frame: Uint8Array) => void = () => {}
  readonly #peerConnection: Pick<PeerConnectionPort, 'openDatagrams'>
  #channels: readonly DataChannelPort[] = []
  #isAsked = false

  constructor(peerConnection: Pick<PeerConnectionPort, 'openDatagrams'>) {
    this.#peerConnection = peerConnection
  }

  get isOpen(): boolean {
    return this.#channels.length > 0
  }

  get bufferedBytes(): number {
    return this.#channels[0]?.bufferedBytes ?? 0
  }

  open(): void {
    if (this.#isAsked || this.isOpen) return
    this.#isAsked = true
    this.#peerConnection.openDatagrams()
  }

  send(frame: Uint8Array): void {
    const [channel] = this.#channels
    try {
      channel?.send(frame)
    } catch {
      // It has closed: datagrams may be lost.
      this.#channels = this.#channels.filter((other) => other !== channel)
    }
  }

  /** A channel of it has opened. */
  add(channel: DataChannelPort): void {
    this.#channels = [...this.#channels, channel]
    channel.events = {
      onMessage: (message) => this.onFrame(message),
      onText: () => {},
      onLow: () => {},
      onClose: () => (this.#channels = this.#channels.filter((other) => other !== channel)),
    }
  }

  /** Nothing comes or goes any more. */
  close(): void {
    this.#channels = []
    this.onFrame = () => {}
  }
}
