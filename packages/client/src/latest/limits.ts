/** Every limit of asking for last values, with its default. */
export const latestLimits = {
  /** Neighbours asked for the newest message of a key. */
  maxAsked: 3,
  /** How long the others of these may take once one has told a good one: a single neighbour might tell what is not the newest. */
  settleMs: 25,
  /** Neighbours that come within this time are asked as well, when those who were there know none. */
  quietMs: 150,
  /** How long the others may take when one of them knows none. */
  slowMs: 500,
  /** Storage nodes are asked as well when neighbours have told nothing for so long. */
  patienceMs: 1_000,
  /** How long all of it may take, unless the caller says otherwise. */
  timeoutMs: 5_000,
  /** A stream part that was joined for it is left when nobody asked for so long. */
  lingerMs: 10_000,
  /** Keys in the table of a stream part that one storage node may send. */
  maxTableKeys: 100_000,
  /** And bytes of the batches that they are in. */
  maxTableBytes: 64 * 1024 * 1024,
} as const

export type LatestLimits = { readonly [L in keyof typeof latestLimits]: number }
