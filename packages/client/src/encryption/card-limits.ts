/** Every limit of looking up the cards of users, with its default. */
export const cardLimits = {
  /** Cards remembered; beyond it, the least recently used are forgotten. Each takes some 2 KB. */
  maxCachedCards: 20_000,
  /** A card that was looked up is used for this long before storage nodes are asked again. */
  maxCardAgeMs: 60_000,
  /** How long the list of the network's storage nodes is used. */
  maxStorageNodesAgeMs: 60_000,
  /** Storage nodes of a stream asked for one user's card, as one of them may have an old one. */
  maxAskedPerUser: 3,
  /** Requests for cards in flight at once. */
  maxAsks: 8,
  /** How long a storage node may take to answer. */
  answerTimeoutMs: 5_000,
  /** How long cards are checked in one go before other work gets a turn. */
  maxCheckTurnMs: 8,
} as const

export type CardLimits = { readonly [L in keyof typeof cardLimits]: number }
