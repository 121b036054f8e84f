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
  /** Readers of all keys at once: event streams, histories, and subscriptions over WebSocket. */
  maxReaders: 10_000,
  /** Connections to the HTTP server at once, whatever was said on them; further ones are closed (counted with what is refused). */
  maxHttpConnections: 12_000,
  /** How long a body may take to come, but for lines of NDJSON, which may take as long as they want while some come. */
  bodyMs: 60_000,
  /** Messages that wait for one reader; one that is slower is ended, and can resume (counter `slow_readers`). */
  maxQueuedMessages: 10_000,
  /** Bytes that wait for one reader. */
  maxQueuedBytes: 4 * 1024 * 1024,
  /** A reader that takes nothing for so long while there is something is hung up on. */
  idleMs: 60_000,
  /** How often an event stream that has nothing to say says so, so that proxies keep it open. */
  heartbeatMs: 15_000,
  /** Message chains in a cursor: one for each process that publishes, and partition. Of more the newest are kept, and the others may come twice. */
  maxCursorChains: 128,
  /** Message chains remembered for the cursors of one reader. */
  maxTrackedChains: 1_000,
  /** Resuming reads so much of what lies before the newest message again: others may have come later than their time. */
  cursorOverlapMs: 60_000,
  /** Longest cursor that is taken, in characters. */
  maxCursorChars: 4_096,
  /** How long `wait=stored` waits where the client does not say. */
  storedTimeoutMs: 30_000,
  /** Answers remembered for idempotency keys; the oldest is forgotten first. */
  maxIdempotentAnswers: 10_000,
  /** Of one key of the gateway; the oldest of its own is forgotten first. */
  maxIdempotentAnswersOfKey: 1_000,
  /** How long they are. */
  idempotentMs: 10 * 60_000,
  /** Longest idempotency key. */
  maxIdempotencyKeyChars: 256,
  /** Streams that were published to and are not left yet; of more the one unused longest is left. */
  maxPublishedStreams: 1_000,
  /** Messages of one bulk request on their way at once. */
  maxBulkUnderWay: 1_000,
  /** A frame of a WebSocket: the largest content in base64, and what is said of it. */
  maxFrameBytes: 1_536 * 1024,
  /** Subscriptions of one WebSocket. */
  maxSubscriptions: 100,
  /** Bytes that a client of a WebSocket may leave unread until its pings are not answered. */
  maxUnreadBytes: 1024 * 1024,
  /** Requests of one WebSocket under way at once. */
  maxRequestsUnderWay: 1_000,
} as const

export type GatewayLimits = { readonly [L in keyof typeof gatewayLimits]: number }
