/** Limits of presence. */
export const presenceLimits = {
  /** A member says this often that it is there, and floods nothing more often than that. */
  presenceIntervalMs: 10_000,
  /** A member that said nothing for this long is lost: it may miss two of three. */
  presenceSilentMs: 25_000,
  /** What a member says sooner after what it said before, by its own clock, is ignored: there is nothing to gain by flooding. */
  minPresenceGapMs: 5_000,
  /** What a member said is ignored where its time is further from this machine's clock: an old message may come again. */
  maxPresenceSkewMs: 60_000,
  /** Members of a stream that are remembered; others are only counted (`presence.refused`). */
  maxMembers: 10_000,
  /** The same of one user, who may run many processes. */
  maxMembersOfUser: 100,
  /** What a member says of itself, as JSON. */
  maxPresenceBytes: 256,
  /** Events kept for an application that does not take them; the oldest go first. */
  maxPresenceEvents: 10_000,
} as const

export type PresenceLimits = { readonly [L in keyof typeof presenceLimits]: number }
