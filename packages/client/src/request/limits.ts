/** Limits of requests and replies. */
export const requestLimits = {
  /** Requests of one client that wait for replies; another is refused (`TOO_MANY_REQUESTS`). */
  maxPendingRequests: 1_000,
  /** Replies to one request that are opened at all, and kept for the application. */
  maxReplies: 1_000,
  /** Replies from one user to one request that are opened: several of its processes may respond. */
  maxRepliesOfUser: 100,
  /** Requests that one responder handles at once; later ones wait in the subscription. */
  maxHandled: 100,
  /** Content of a reply: the message also has room for what seals it. */
  maxReplyBytes: 1024 * 1024 - 128,
  /** What the asker is told about a failure. */
  maxFailureBytes: 512,
  /** Requests whose replies are sealed for the same keys of the asker. */
  maxRequestsOfKeys: 1_000,
  /** How long an asker keeps the same keys. */
  keysLifeMs: 60_000,
  /** Agreed secrets that are kept: by an asker for its keys, one per responder; by a responder, one per asker. */
  maxAgreed: 1_000,
  /** How long a request waits for replies, unless told otherwise. */
  requestTimeoutMs: 5_000,
} as const
