/** How a recorder packs. */
export const recordLimits = {
  /** What it records is published so long after the first of it came. */
  packMs: 200,
  /** Or as soon as it has so many bytes. */
  packBytes: 64 * 1024,
  /** Messages of a recording that are remembered, so that those of several recorders come once. */
  maxSeenMessages: 10_000,
} as const
