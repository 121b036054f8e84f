/** What clients of a gateway can make grow, and how long things are kept. */
export const gatewayLimits = {
  /** Entries of the file of keys. */
  maxAccounts: 10_000,
  /** Patterns of one entry for publishing, and as many for subscribing. */
  maxPatterns: 256,
  /** Identities with a client of their own at once. */
  maxIdentities: 32,
  /** A client that no connection uses is closed after so long. */
  idleClientMs: 60_000,
  /** How often the file of keys is looked at, and expiry times are. */
  lookMs: 1_000,
  /** Wrong keys a second from one network (/24 or /48), on average; further ones are slowed. */
  failuresPerSecond: 1,
  /** And the burst. */
  failureBurst: 10,
  /** Networks whose wrong keys are counted; the one that failed longest ago is forgotten first. */
  maxFailingNetworks: 10_000,
} as const
