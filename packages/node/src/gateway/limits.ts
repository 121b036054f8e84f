/** What clients of a gateway can make grow, and how long things are kept. */
export const gatewayLimits = {
  /** Entries of the file of keys. */
  maxAccounts: 10_000,
  /** Patterns of one entry for publishing, and the same number for subscribing. */
  maxPatterns: 256,
  /** Identities with a client of their own at once. */
  maxIdentities: 32,
  /** A client that no connection uses is closed after this long. */
  idleClientMs: 60_000,
  /** How often the file of keys, and expiry times, are looked at. */
  lookMs: 1_000,
  /** Wrong keys a second from one network (/24 or /48), on average; further ones are slowed. */
  failuresPerSecond: 1,
  /** Wrong keys in one burst. */
  failureBurst: 10,
  /** Networks whose wrong keys are counted; the one that failed longest ago is forgotten first. */
  maxFailingNetworks: 10_000,
  /** Readers of all keys at once: event streams, histories, and subscriptions over WebSocket. */
  maxReaders: 10_000,
  /** Connections to the HTTP server at once, whatever they are used for; further ones are closed (counted with refused ones). */
  maxHttpConnections: 12_000,
  /** How long a body may take to arrive; lines of NDJSON may take any time while some arrive. */
  bodyMs: 60_000,
  /** Messages waiting for one reader; a slower reader is ended, and can resume (counter `slow_readers`). */
  maxQueuedMessages: 10_000,
  /** Bytes waiting for one reader. */
  maxQueuedBytes: 4 * 1024 * 1024,
  /** A reader that takes nothing for this long, though something waits, is disconnected. */
  idleMs: 60_000,
  /** How often an event stream without events says so, so that proxies keep it open. */
  heartbeatMs: 15_000,
  /** Message chains in a cursor: one for each publishing process and partition. Beyond it, the newest are kept; the others may come twice. */
  maxCursorChains: 128,
  /** Message chains remembered for the cursors of one reader. */
  maxTrackedChains: 1_000,
  /** Resuming reads this long before the newest message again: others may have come later than their time. */
  cursorOverlapMs: 60_000,
  /** Longest cursor that is taken, in characters. */
  maxCursorChars: 4_096,
  /** How long `wait=stored` waits if the client does not say. */
  storedTimeoutMs: 30_000,
  /** Answers remembered for idempotency keys; the oldest is forgotten first. */
  maxIdempotentAnswers: 10_000,
  /** The same for one key of the gateway; its own oldest is forgotten first. */
  maxIdempotentAnswersOfKey: 1_000,
  /** How long these answers are remembered. */
  idempotentMs: 10 * 60_000,
  /** Longest idempotency key. */
  maxIdempotencyKeyChars: 256,
  /** Streams that were published to and are not left yet; beyond it, the least recently used is left. */
  maxPublishedStreams: 1_000,
  /** Messages of one bulk request on their way at once. */
  maxBulkUnderWay: 1_000,
  /** A WebSocket frame: the largest content in base64, plus what is said about it. */
  maxFrameBytes: 1_536 * 1024,
  /** Subscriptions of one WebSocket. */
  maxSubscriptions: 100,
  /** Bytes that a WebSocket client may leave unread before its pings go unanswered. */
  maxUnreadBytes: 1024 * 1024,
  /** Requests of one WebSocket under way at once. */
  maxRequestsUnderWay: 1_000,
} as const

export type GatewayLimits = { readonly [L in keyof typeof gatewayLimits]: number }
