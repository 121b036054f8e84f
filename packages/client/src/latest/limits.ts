/** Every limit of asking for last values, with its default. */
export const latestLimits = {
  /** Neighbours asked for the newest message of a key. */
  maxAsked: 3,
  /** How long the other neighbours may take once one has sent a good one: a single neighbour might not send the newest. */
  settleMs: 25,
  /** Neighbours that come within this time are asked as well, when those already there know none. */
  quietMs: 150,
  /** How long the other neighbours may take when one knows none. */
  slowMs: 500,
  /** Storage nodes are asked as well when neighbours have sent nothing for this long. */
  patienceMs: 1_000,
  /** How long the whole search may take, unless the caller says otherwise. */
  timeoutMs: 5_000,
  /** A stream part joined in order to ask is left when nobody has asked for this long. */
  lingerMs: 10_000,
  /** Bytes of the table of a stream part that one storage node may send, with `tableBatchBytes` for each batch; unless the caller says otherwise. */
  maxTableBytes: 128 * 1024 * 1024,
  /** What a batch takes in memory besides its bytes. */
  tableBatchBytes: 512,
} as const

export type LatestLimits = { readonly [L in keyof typeof latestLimits]: number }
