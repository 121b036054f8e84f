/** What urgent messages may take of one link. docs/limits.md lists every field. */
export interface UrgentLimits {
  /** Bytes of batches waiting for one link; beyond it, those that would go last make room. */
  readonly maxUrgentQueueBytes: number
  /** The part of it that one publisher's batches may take. */
  readonly maxUrgentQueueBytesOfPublisher: number
  /** Batches waiting for one link. */
  readonly maxUrgentQueueBatches: number
  /** A larger packet is sent in pieces of at most this size, or a third of it on a slow link, unless there would be too many. */
  readonly urgentPieceBytes: number
  /** An upper layer of a group that has waited this long is shed when a lower one overtakes it (`urgent.shed`). */
  readonly shedAfterMs: number
  /** Rate of urgent messages on a link about which nothing is known. */
  readonly firstKbitPerS: number
  /** Lowest rate of a link, whatever its delays. */
  readonly minKbitPerS: number
  /** Highest rate of a link. */
  readonly maxKbitPerS: number
  /** Frames in flight on one link whose arrival is watched. */
  readonly maxSentFrames: number
  /** Chain headers replaced by numbers on one link, each way; beyond it, the oldest are sent anew. */
  readonly maxUrgentAliases: number
  /** Nothing more is handed to a channel that holds this much. */
  readonly maxUrgentBufferBytes: number
  /** Bytes of incomplete objects of one peer; then the oldest object is dropped. */
  readonly maxPiecesBytes: number
  /** Incomplete objects of one peer, each of which takes memory of its own; then the oldest is dropped. */
  readonly maxIncompleteObjects: number
  /** A link's other packets yield until this long after the last urgent message. */
  readonly yieldMs: number
}

export const urgentLimits: UrgentLimits = {
  maxUrgentQueueBytes: 1024 * 1024,
  maxUrgentQueueBytesOfPublisher: 384 * 1024,
  maxUrgentQueueBatches: 512,
  urgentPieceBytes: 4 * 1024,
  shedAfterMs: 100,
  firstKbitPerS: 500,
  minKbitPerS: 50,
  maxKbitPerS: 100_000,
  maxSentFrames: 4_096,
  maxUrgentAliases: 64,
  maxUrgentBufferBytes: 16 * 1024,
  maxPiecesBytes: 1024 * 1024,
  maxIncompleteObjects: 128,
  yieldMs: 2_000,
}
