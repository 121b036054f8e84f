/** How a recorder packs. */
export const recordLimits = {
  /** Recorded messages are published this long after the first of them came. */
  packMs: 200,
  /** Recorded messages are published sooner when they have this many bytes. */
  packBytes: 64 * 1024,
  /** Messages of a recording that are remembered, so that a message from several recorders comes once. */
  maxSeenMessages: 10_000,
} as const
