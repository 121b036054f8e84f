/** Every limit of a subscription to a prefix. */
export const prefixLimits = {
  /** Streams of one subscription, unless it says otherwise. */
  maxStreams: 100,
  /** The most that it can ask for. */
  mostStreams: 1_000,
  /** Stream parts of one subscription; a stream whose partitions do not all fit is left out. */
  maxParts: 2_000,
  /** Streams looked at for each one allowed, as some may not be readable. */
  looksPerStream: 10,
  /** The first pause before a stream that failed is tried again; it doubles. */
  minBackoffMs: 1_000,
  /** The longest such pause. */
  maxBackoffMs: 60_000,
} as const
