/** Every limit of a storage node that is no setting, with its default. What others can make grow is bounded here. */
export const storageLimits = {
  /** Batches handed to the store at once. */
  maxAppendBatches: 1_000,
  /** Bytes of batches handed to the store at once. */
  maxAppendBytes: 4 * 1024 * 1024,
  /** First pause after the store failed; doubles with each failure. */
  minStoreBackoffMs: 250,
  /** Longest such pause. */
  maxStoreBackoffMs: 30_000,
  /** Bytes read from the store at once, for each request. */
  pageBytes: 128 * 1024,
  /** Requests of one peer at once (counter `storage.requestsRefused`): one for each partition of a stream, and some more. */
  maxResendsPerPeer: 128,
  /** Share of `storage.maxHttpReads` that one remote address may have, rounded up; for IPv6, the first 64 bits count. */
  maxHttpShare: 0.25,
  /** Bytes that an asker may let a storage node send ahead; a larger window counts as this. */
  maxWindowBytes: 8 * 1024 * 1024,
  /** Nothing more is given to a link while this much waits on it: live messages share it. */
  linkLowMarkBytes: 128 * 1024,
  /** How often a link above that mark is looked at. */
  linkPollMs: 5,
  /** A request whose asker takes nothing for this long is ended. */
  idleMs: 60_000,
  /** How often the permissions of users being sent messages are checked again. */
  recheckMs: 1_000,
  /** Messages waited for at once, of all peers. */
  maxAwaited: 10_000,
  /** Messages one peer waits for at once. */
  maxAwaitedPerPeer: 1_000,
  /** How long a message that may still come is waited for. */
  awaitStoredMs: 30_000,
  /** How long a request waits at most for messages that have arrived but are not stored yet. */
  flushMs: 2_000,
  /** Answers and refusals, of at most 90 kB, that wait for room on full links, of all peers; another is lost, and its asker waits until its time is up. */
  maxWaitingAnswers: 512,
  /** The same for one peer. */
  maxWaitingAnswersPerPeer: 64,
  /** Cards of users kept; beyond it, cards of users who read no stream here are dropped, the oldest first, and then new ones are refused (`CARDS_FULL`). */
  maxCards: 100_000,
  /** Users seen reading here who are remembered, so that their cards are noted once. */
  maxKnownMembers: 10_000,
  /** Requests about cards at once, of all peers (counter `storage.cards.refusedRequests`). */
  maxCardRequests: 1_000,
  /** The same for one peer. */
  maxCardRequestsPerPeer: 64,
  /** Cards that one link may bring at once. */
  cardBurst: 16,
  /** Cards per second that one link may bring after that. */
  cardsPerSecond: 0.1,
  /** Requests for cards, of up to 64 users each, on one link at once: 10,000 users and some more. */
  cardAskBurst: 256,
  /** Requests for cards per second on one link after that. */
  cardAsksPerSecond: 8,
  /** First pause after the registries could not be read; doubles with each failure. */
  minRegistryBackoffMs: 1_000,
  /** Longest such pause. */
  maxRegistryBackoffMs: 60_000,
  /** What was published so long before a stream part is joined is asked of neighbours, too: they keep no more. A restart should take less. */
  lookBackMs: 30_000,
  /** Repair begins this long before the last time all was well: clocks differ, and messages are late. */
  repairMarginMs: 5 * 60_000,
  /** Message chains, of all publishers, with gaps to ask other storage nodes about (counter `storage.gapsRefused`). */
  maxRepairGaps: 1_000,
  /** How far back such a question reaches at most, but never to before the stream part was joined. */
  maxGapReachMs: 3_600_000,
  /** Bytes read for one such question, from each storage node. */
  maxGapBytes: 16 * 1024 * 1024,
  /** How often the question is asked if not all answer. */
  maxGapTries: 5,
  /** Bytes copied of one stream part from each storage node before it is another owner's turn. */
  maxTurnBytes: 64 * 1024 * 1024,
  /** How long a storage node may take for that; the rest is requested in the next round. */
  maxTurnMs: 60_000,
  /** The same for a gap. */
  maxGapMs: 10_000,
  /** How long gaps are asked for before stream parts have their turn. */
  maxGapTurnMs: 60_000,
  /** Batches that may not be stored taken from a storage node in its turn; then it is not asked before the next round (counter `storage.repair.refusedBatches`). */
  maxRefusedPerTurn: 1_000,
  /** Bytes of a storage node's batches that are being checked, or wait for earlier ones. */
  maxCheckedAheadBytes: 256 * 1024,
  /** How often a stream part is read again because too few storage nodes could be asked about something that needs several. */
  maxWitnessTries: 5,
  /** How often it is recorded that all is well. */
  markIntervalMs: 10_000,
  /** A stream part that lost its neighbours is repaired when it has some again, or after this long. */
  settleMs: 10_000,
  /** Keys of a stream part whose newest messages stay longer than its retention; beyond it, those that changed longest ago go. */
  maxValues: 100_000,
  /** How often messages beyond the retention are deleted. */
  pruneIntervalMs: 60_000,
  /** A clock that is further from the date it told before, and the time since then, is not believed at first: nothing is deleted for its age by it. */
  maxClockLeadMs: 3_600_000,
  /** For how long, while the node runs, it has to say so until messages age by it. */
  clockBelievedAfterMs: 24 * 3_600_000,
} as const

export type StorageLimits = { readonly [L in keyof typeof storageLimits]: number }
