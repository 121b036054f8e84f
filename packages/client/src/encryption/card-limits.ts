/** Every limit of looking up the cards of users, with its default. */
export const cardLimits = {
  /** Cards remembered; of more, those not used for longest are forgotten. Each takes some 2 KB. */
  maxCachedCards: 20_000,
  /** A card that was looked up is used for this long before storage nodes are asked again. */
  maxCardAgeMs: 60_000,
  /** How long the list of the network's storage nodes is used. */
  maxStorageNodesAgeMs: 60_000,
  /** Storage nodes of a stream that are asked for one user's card, as one of them may have an old one. */
  maxAskedPerUser: 3,
  /** Asks under way at once. */
  maxAsks: 8,
  /** How long a storage node may take to answer. */
  answerTimeoutMs: 5_000,
  /** How long cards are checked at once before others get a turn. */
  maxCheckTurnMs: 8,
} as const

export type CardLimits = { readonly [L in keyof typeof cardLimits]: number }
