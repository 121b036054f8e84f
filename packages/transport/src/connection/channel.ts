import type { TransportErrorCode } from '../errors.ts'
import type { NoiseSuite } from '../noise/noise-suite.ts'
import type { LinkPath } from '../ports.ts'

export interface ChannelEvents {
  /** One frame, whole, in order. Never throws into the channel. */
  onFrame(frame: Uint8Array): void
  /** `bufferedBytes` fell to the low mark. */
  onDrain(): void
  /**
   * The channel is closed; called exactly once. `text` is for people; `code` is set where the channel knows better than
   * CONNECTION_LOST.
   */
  onClose(text: string, code?: TransportErrorCode): void
}

/** Of a channel that nobody listens to. */
export const noEvents: ChannelEvents = { onFrame() {}, onDrain() {}, onClose() {} }

/** Frames beside those of a channel, to the same peer: they may be lost, and come in any order. */
export interface DatagramLane {
  /** Whether frames can be sent. */
  readonly isOpen: boolean
  /** As of the channel. */
  readonly bufferedBytes: number
  /** Set by the owner. Never throws into the lane. */
  onFrame: (frame: Uint8Array) => void
  /**
   * Opens it, unless it is open or being opened, by either side; after it has failed, not again.
   * @param maxLifeMs for how long a frame is sent again that was lost; absent: it is sent once
   */
  open(maxLifeMs?: number): void
  /** Never throws. */
  send(frame: Uint8Array): void
}

/**
 * A raw, ordered, reliable channel of frames: what a WebSocket, a data channel and a memory channel have in common. Everything
 * else (handshake, pings, packing, limits, close reasons) belongs to `Connection` and is written once.
 */
export interface Channel {
  readonly kind: string
  /** As of a Connection. Never throws. */
  readonly path?: LinkPath | undefined
  /** As of a Connection. Never throws. */
  readonly remoteAddress?: string | undefined
  /** A larger packet is sent in fragments. 16 KiB on data channels, where browsers may refuse more. */
  readonly maxFrameBytes: number
  /** Bytes handed to `send` that have not left yet. */
  readonly bufferedBytes: number
  /** With so many of them it is given no more: what waits elsewhere can be overtaken. Absent: the high mark of its connection. */
  readonly fullBytes?: number | undefined
  /**
   * What ties a handshake to this very channel, the same on both sides: for WebRTC both DTLS fingerprints in sorted order;
   * empty where there is nothing.
   */
  readonly binding: Uint8Array
  /**
   * The primitives its frames are sealed with. Absent where nobody can stand between the two ends: the binding identifies them,
   * or both are in one process.
   */
  readonly noise?: NoiseSuite | undefined
  /**
   * Delivers opened frames to their reader where that does not happen at once: whole or in pieces of whole packets, in
   * order.
   */
  readonly handOn?: ((frame: Uint8Array, onFrame: (frame: Uint8Array) => void) => void) | undefined
  /** Absent where every frame arrives, and in order. */
  readonly datagrams?: DatagramLane | undefined
  /** Another one, which sends again for a while what was lost. */
  readonly lossy?: DatagramLane | undefined
  events: ChannelEvents
  /** Never throws; a failure ends in `onClose`. The bytes must not be changed afterwards. */
  send(frame: Uint8Array): void
  /** Closes after what was sent has left, or at once when `abrupt`. `onClose` follows. Idempotent. */
  close(abrupt?: boolean): void
}
