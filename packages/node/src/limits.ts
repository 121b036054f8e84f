/** What of the network a broker node takes part in, at most. */
export const nodeLimits = {
  /** Entries of the setting `streams`. */
  maxStreamPatterns: 256,
  /** Streams looked at because of the setting `streams`. */
  maxFollowedStreams: 1_000,
  /** Stream parts joined because of the setting `streams`; the others count as `runnel_streams_ignored_parts`. */
  maxFollowedParts: 2_000,
  /** The first pause before a registry that gave no answer is asked again; it doubles. */
  minFollowBackoffMs: 1_000,
  /** The longest such pause. */
  maxFollowBackoffMs: 60_000,
  /** How often a node that is in no stream part asks its tracker something, to stay connected. */
  presenceMs: 5_000,
  /** How often a node compares its clock with those of servers. */
  clockLookMs: 5 * 60_000,
  /** The same while its clock is wrong. */
  wrongClockLookMs: 30_000,
} as const
