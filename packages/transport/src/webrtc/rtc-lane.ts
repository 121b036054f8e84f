import type { DatagramLane } from '../connection/channel.ts'
import type { DataChannelPort, LaneLabel, PeerConnectionPort } from './peer-connection-port.ts'

/**
 * A lane of a peer connection: a data channel of its own, unordered, that sends again for a while what was lost, or not at all. When both
 * sides open it at once there are two, and each side sends by the one that opened first for it.
 */
export class RtcLane implements DatagramLane {
  onFrame: (frame: Uint8Array) => void = () => {}
  readonly #label: LaneLabel
  readonly #peerConnection: Pick<PeerConnectionPort, 'openLane'>
  #channels: readonly DataChannelPort[] = []
  #isAsked = false

  constructor(label: LaneLabel, peerConnection: Pick<PeerConnectionPort, 'openLane'>) {
    this.#label = label
    this.#peerConnection = peerConnection
  }

  get isOpen(): boolean {
    return this.#channels.length > 0
  }

  get bufferedBytes(): number {
    return this.#channels[0]?.bufferedBytes ?? 0
  }

  open(maxLifeMs?: number): void {
    if (this.#isAsked || this.isOpen) return
    this.#isAsked = true
    this.#peerConnection.openLane({ label: this.#label, maxLifeMs })
  }

  send(frame: Uint8Array): void {
    const [channel] = this.#channels
    try {
      channel?.send(frame)
    } catch {
      // It has closed: what it is given may be lost.
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
