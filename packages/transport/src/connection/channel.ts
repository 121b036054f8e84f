import type { TransportErrorCode } from '../errors.ts'
import type { NoiseSuite } from '../noise/noise-suite.ts'
import type { LinkPath } from '../ports.ts'

export interface ChannelEvents {
  /** One frame, whole, in order. Never throws into the channel. */
  onFrame(frame: Uint8Array): void
  /** `bufferedBytes` fell to the low mark. */
  onDrain(): void
  /** The pipe is gone; exactly once. `text` is for people; `code` where the channel knows better than CONNECTION_LOST. */
  onClose(text: string, code?: TransportErrorCode): void
}

/**
 * A raw, ordered, reliable pipe of frames: what a WebSocket, a data channel and a memory pipe have in common.
 * Everything else (handshake, pings, packing, limits, close reasons) is `Connection`'s and written once.
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
  /** What ties a handshake to this very channel: for WebRTC both DTLS fingerprints in sorted order; empty where there is nothing. Same on both sides. */
  readonly binding: Uint8Array
  /**
   * With what its frames are sealed. Absent where nobody can stand between the two ends: the binding says who they are, or both
   * are in one process.
   */
  readonly noise?: NoiseSuite | undefined
  /** How frames reach their reader once they are opened, where that is not at once: whole or in pieces of whole packets, in order. */
  readonly handOn?: ((frame: Uint8Array, onFrame: (frame: Uint8Array) => void) => void) | undefined
  events: ChannelEvents
  /** Never throws; a failure ends in `onClose`. The bytes must not be changed afterwards. */
  send(frame: Uint8Array): void
  /** Closes after what was sent has left, or at once when `abrupt`. `onClose` follows. Idempotent. */
  close(abrupt?: boolean): void
}
