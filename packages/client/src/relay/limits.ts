/** How long what is passed on for others keeps a stream part joined. */
export const relayLimits = {
  /** A stream part is left this long after the last batch that was passed on there. */
  lingerMs: 30_000,
  /** How long a batch waits for a first neighbour. */
  neighbourMs: 5_000,
} as const
