/** Limits of presence. */
export const presenceLimits = {
  /** How often a member says that it is there; it floods nothing more often than that. */
  presenceIntervalMs: 10_000,
  /** A member that said nothing for this long is lost: it may miss two of three. */
  presenceSilentMs: 25_000,
  /** A statement that a member makes sooner than this after its last, by its own clock, is ignored: flooding gains nothing. */
  minPresenceGapMs: 5_000,
  /** A statement is ignored if its time is further than this from this machine's clock: an old message may come again. */
  maxPresenceSkewMs: 60_000,
  /** Members of a stream that are remembered; others are only counted (`presence.refused`). */
  maxMembers: 10_000,
  /** The same for one user, who may run many processes. */
  maxMembersOfUser: 100,
  /** What a member says about itself, as JSON. */
  maxPresenceBytes: 256,
  /** Events kept for an application that does not take them; the oldest are dropped first. */
  maxPresenceEvents: 10_000,
} as const

export type PresenceLimits = { readonly [L in keyof typeof presenceLimits]: number }
