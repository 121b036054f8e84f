/** Limits of requests and replies. */
export const requestLimits = {
  /** Requests of one client that wait for replies; another is refused (`TOO_MANY_REQUESTS`). */
  maxPendingRequests: 1_000,
  /** Replies to one request that are kept for the application, and opened at all. */
  maxReplies: 1_000,
  /** Replies of one user to one request that are opened: several processes of it may respond. */
  maxRepliesOfUser: 100,
  /** Requests that are handled at once by one responder; later ones wait in the subscription. */
  maxHandled: 100,
  /** Content of a reply: a message has room for what seals it, too. */
  maxReplyBytes: 1024 * 1024 - 128,
  /** What the asker is told of a failure. */
  maxFailureBytes: 512,
  /** Requests whose replies are sealed for the same keys of the asker. */
  maxRequestsOfKeys: 1_000,
  /** How long an asker has the same keys. */
  keysLifeMs: 60_000,
  /** Secrets agreed on that are kept: by an asker for its keys, one of each responder; by a responder, one of each asker. */
  maxAgreed: 1_000,
  /** How long a request waits for replies, unless told otherwise. */
  requestTimeoutMs: 5_000,
} as const
