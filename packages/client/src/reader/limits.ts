/** Limits of durable readers. */
export const readerLimits = {
  /** Members of one group: processes of one user that share the work of a reader. */
  maxGroupMembers: 16,
  /** A reader writes its cursor at most this often, unless `flush` asks for it. */
  cursorIntervalMs: 1_000,
  /** The same with `flush`. */
  minCursorIntervalMs: 50,
  /** A cursor is published again when no storage node has it after this time. */
  cursorStoredMs: 5_000,
  /** First pause after storage nodes failed; doubles with each. */
  minReaderBackoffMs: 500,
  /** Longest such pause. */
  maxReaderBackoffMs: 15_000,
  /** How often a member of a group says that it is there. */
  groupIntervalMs: 2_500,
  /** A member of a group that has said nothing for this long is lost, and others take over its share. */
  groupSilentMs: 10_000,
  /** A member says that it is there this soon after another came, but no sooner after its last statement. */
  minGroupGapMs: 100,
  /** A member's statement is ignored if its time is further than this from this machine's clock. */
  maxGroupSkewMs: 60_000,
  /** A newcomer listens this long for others of its group before it takes a share. */
  groupHelloMs: 1_000,
  /** Messages that a reader has out at once: taken by the application, or about to be, and not acknowledged. */
  maxInFlight: 10_000,
  /** The name of a reader, UTF-8. */
  maxReaderNameBytes: 128,
  /** Message chains that a reader remembers beyond its floor; beyond it, it forgets finished ones, which may be delivered again after a restart (counter `forgotten`). */
  maxReaderChains: 100_000,
  /** Stored messages that `readerBacklog` looks at. */
  maxBacklog: 100_000,
  /** Live messages read from storage again because clocks differ, when the reader went back to history. */
  readerOverlapMs: 10_000,
} as const
