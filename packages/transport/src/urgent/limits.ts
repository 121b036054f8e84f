/** What urgent messages may take of one link. docs/limits.md lists every field. */
export interface UrgentLimits {
  /** Batches that wait for one link, in bytes; then those that would go last make room. */
  readonly maxUrgentQueueBytes: number
  /** The part of it that the batches of one publisher may take. */
  readonly maxUrgentQueueBytesOfPublisher: number
  /** Batches that wait for one link. */
  readonly maxUrgentQueueBatches: number
  /** A larger packet is sent in pieces of at most this size, and on a slow link of a third of it, unless those were too many. */
  readonly urgentPieceBytes: number
  /** So long after it came an upper layer of a group is shed when a lower one overtakes it (`urgent.shed`). */
  readonly shedAfterMs: number
  /** The rate of urgent messages on a link of which nothing is known. */
  readonly firstKbitPerS: number
  /** The rate of a link whatever its delays are. */
  readonly minKbitPerS: number
  /** And at most. */
  readonly maxKbitPerS: number
  /** Frames under way on one link whose arrival is watched. */
  readonly maxSentFrames: number
  /** Headers of chains that stand as numbers on one link, each way; of more the oldest are said anew. */
  readonly maxUrgentAliases: number
  /** No more is handed to a channel than makes it hold so much. */
  readonly maxUrgentBufferBytes: number
  /** Bytes of incomplete objects of one peer; then the oldest object is dropped. */
  readonly maxPiecesBytes: number
  /** Incomplete objects of one peer, each of which takes memory of its own; then the oldest is dropped. */
  readonly maxIncompleteObjects: number
  /** So long after the last urgent message the other packets of a link yield. */
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
