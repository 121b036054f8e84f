/** Every limit of reading history, with its default. */
export const resendLimits = {
  /** Storage nodes read at once for one stream part; others stand by. */
  maxSourcesPerPart: 3,
  /** Bytes that storage nodes may send before earlier ones are taken, over all sources of one resend. */
  maxWindowBytes: 4 * 1024 * 1024,
  /** The smallest share of these bytes for one source. */
  minSourceWindowBytes: 64 * 1024,
  /** The largest share of these bytes for one source. */
  maxSourceWindowBytes: 1024 * 1024,
  /** Bytes that may come from a storage node before they are taken; one that sends more is given up. */
  maxOverrunBytes: 16 * 1024 * 1024,
  /** A storage node that does not connect or answer within this time is given up. */
  startTimeoutMs: 5_000,
  /** A storage node that may send but does not for this long is given up. */
  idleTimeoutMs: 10_000,
  /** A storage node that sends less than this, over all time waited for it beyond `idleTimeoutMs`, is given up. */
  minSourceBytesPerSecond: 1024,
  /** A storage node that others waited for this long in total, within `holdUpMessages`, stands by from then on. */
  maxHoldUpMs: 1_000,
  /** Messages after which that count restarts. */
  holdUpMessages: 1_000,
  /** Attempts to go on after a broken link, without a batch in between. */
  maxResumes: 3,
  /** First pause before such an attempt; doubles with each. */
  minResumeBackoffMs: 250,
  /** Histories read at once for one subscription to a prefix; others wait for their turn. */
  maxHistoriesOfPrefix: 4,
  /** Bytes of content held to put messages of several sources in order; beyond it, order holds within each chain only. */
  maxHeldBytes: 64 * 1024 * 1024,
  /** Message chains remembered while merging. */
  maxMergedChains: 10_000,
  /** Places reported for one resend because storage nodes sent different messages for them. */
  maxEvidence: 16,
  /** Batches of one place that a storage node may send. */
  maxBatchesOfOnePlace: 10_000,
  /** `last` is exact up to this many messages; above that, or if storage nodes differ, a few extra messages may be returned. */
  maxExactLast: 10_000,
  /** Bytes of content held for an exact `last`; above that, a few extra messages may be returned. */
  maxExactLastBytes: 64 * 1024 * 1024,
  /** Gaps of one resend that standby storage nodes are asked for. */
  maxGapFills: 100,
  /** How long the tracker may take to tell where storage nodes are. */
  findTimeoutMs: 2_000,
  /** How long to wait for the tracker when the registry has a URL for each storage node; after that, the URLs are dialled. */
  findPatienceMs: 300,
  /** A tracker that did not answer is asked again after this. */
  findAgainMs: 5_000,
  /** How long the tracker's answer is reused. */
  contactsMaxAgeMs: 30_000,
  /** Stream parts for which the answer is remembered. */
  maxContacts: 1_000,
  /** How long the permission that the user gives the node is valid. */
  tokenLifetimeMs: 5 * 60_000,
  /** Gaps of the node filled from storage nodes at once. */
  maxArchiveFills: 4,
  /** Gaps waiting to be filled; further ones are given up (counter `archiveRefused`). */
  maxArchiveWaiting: 1_000,
  /** Bytes of batches read for one gap. */
  maxArchiveBytesPerGap: 64 * 1024 * 1024,
  /** Messages that one storage node is asked about at once: whether it has stored them. */
  maxAwaitedPerNode: 32,
  /** Pause before a storage node is asked again whether it has stored a message. */
  awaitRetryMs: 500,
  /** Live messages kept while history is read; beyond it, the oldest are dropped, and read from storage afterwards. */
  maxBufferedLive: 10_000,
  /** Bytes of their content. */
  maxBufferedLiveBytes: 64 * 1024 * 1024,
  /** Messages of history remembered, to tell a late live message from one that history brought. */
  maxRecentHistory: 10_000,
  /** Chains whose live messages wait for the messages between them and history; for others a gap is reported. */
  maxWaitingChains: 100,
  /** Live messages of one such chain; beyond it, the oldest are dropped, and read from storage. */
  maxWaitingLive: 1_000,
  /** Bytes of their content. */
  maxWaitingLiveBytes: 1024 * 1024,
  /** Gaps remembered that the node gave up while history was read; the oldest are forgotten first. */
  maxEarlyGaps: 1_000,
  /** How often messages published while history was read are themselves read from storage, when live messages did not fit. */
  maxCatchUps: 10,
  /** Chains of history remembered for joining live to it. */
  maxJoinedChains: 10_000,
} as const

export type ResendLimits = { readonly [L in keyof typeof resendLimits]: number }
