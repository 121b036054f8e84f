import { maxPacketBytes } from '@runnel/protocol'
import { urgentLimits, type UrgentLimits } from '../urgent/limits.ts'

/** What one connection may take, hold and wait for. docs/limits.md lists every field. */
export interface ConnectionLimits extends UrgentLimits {
  /** A ping goes out when nothing was received for this long. */
  readonly pingIntervalMs: number
  /** While pings are answered and nothing else is sent or received, the interval doubles with each answer, up to this. At least `pingIntervalMs`. */
  readonly maxPingIntervalMs: number
  /** The peer is dead when this many pings in a row, each `pingIntervalMs` after the one before, brought nothing back. */
  readonly maxMissedPongs: number
  /** A ping goes out at least this often on a busy link too, so that the round-trip time stays true. */
  readonly rttIntervalMs: number
  /** More pings than this within one second break the protocol. */
  readonly maxPingsPerSecond: number
  /** More renewed credentials than this within an hour break the protocol. */
  readonly maxCredentialsPerHour: number
  /** Time from the first byte until the peer is proven. */
  readonly handshakeTimeoutMs: number
  /** An unproven peer may not send a larger frame. */
  readonly maxHandshakeFrameBytes: number
  /** Bytes of packets that arrive in the turn that opens the connection and wait for its owner. */
  readonly maxEarlyBytes: number
  /** Above it `writable` is false, and no more is handed to the channel. */
  readonly highMarkBytes: number
  /** At or below it `writable` is true again, and `onDrain` is called. */
  readonly lowMarkBytes: number
  /** A packet that would take the queue above it is refused. */
  readonly maxQueueBytes: number
  /** Beyond that, for packets whose loss nothing makes up for. */
  readonly reservedQueueBytes: number
  /** A peer is too slow when the channel holds data and none of it leaves for this long. */
  readonly stallTimeoutMs: number
  /** How long a closing connection may take to send what is queued. */
  readonly closeTimeoutMs: number
  /** A larger packet is neither sent nor accepted. */
  readonly maxPacketBytes: number
  /** Packets are packed into frames of at most this size: while a frame is under way on a slow line, nothing else arrives, and its receiver hears nothing. */
  readonly maxPackedBytes: number
  /** A larger packet does not use the lossy lane; smaller packets of a turn are packed into frames of at most this size. */
  readonly maxLossyFrameBytes: number
  /** When more would wait in the lossy lane, packets use the channel, where the sender hears that it is full. */
  readonly maxLossyQueueBytes: number
  /** A lost frame of the lossy lane is sent again for this long plus two round trips. */
  readonly minLossyLifeMs: number
  /** Longest time for which such a frame is sent again. */
  readonly maxLossyLifeMs: number
}

export const defaultConnectionLimits: ConnectionLimits = {
  pingIntervalMs: 3000,
  maxPingIntervalMs: 10_000,
  maxMissedPongs: 3,
  rttIntervalMs: 30_000,
  maxPingsPerSecond: 100,
  maxCredentialsPerHour: 60,
  handshakeTimeoutMs: 5000,
  maxHandshakeFrameBytes: 4096,
  maxEarlyBytes: 4 * 1024 * 1024,
  highMarkBytes: 1024 * 1024,
  lowMarkBytes: 256 * 1024,
  maxQueueBytes: 4 * 1024 * 1024,
  reservedQueueBytes: 64 * 1024,
  stallTimeoutMs: 15_000,
  closeTimeoutMs: 2000,
  maxPacketBytes,
  maxPackedBytes: 64 * 1024,
  maxLossyFrameBytes: 4 * 1024,
  maxLossyQueueBytes: 64 * 1024,
  minLossyLifeMs: 150,
  maxLossyLifeMs: 3_000,
  ...urgentLimits,
}

/** The defaults, overridden by what is given. Connections with the same limits share one object. */
export function connectionLimits(limits?: Partial<ConnectionLimits>): ConnectionLimits {
  return limits === undefined ? defaultConnectionLimits : { ...defaultConnectionLimits, ...limits }
}
