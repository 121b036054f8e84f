/** Every limit of a node, with its default. Everything a peer, a publisher or a tracker can make grow is bounded here. */
export const networkLimits = {
  /** A node with workers that has verified on its own thread for longer than this at once leaves batches to them. */
  verificationBurstMs: 2,
  /** The share of its time in which it verifies on its own thread without being behind: 50 ms a second. */
  verificationShare: 0.05,
  /** Packets of links that wait until the batches before them are verified; above it, the oldest are verified on the node's own thread. */
  maxUnverifiedEvents: 8_192,
  /** Bytes of the batches among them. */
  maxUnverifiedBytes: 8 * 1024 * 1024,
  /** Keys of one stream part whose newest messages are kept; above it, those that changed longest ago go first (`latest.dropped`). */
  maxLatestKeys: 10_000,
  /** Bytes of the batches that these are in (`latest.dropped`). */
  maxLatestBytes: 4 * 1024 * 1024,
  /** The same in all stream parts together (`latest.dropped`). */
  maxLatestBytesTotal: 32 * 1024 * 1024,
  /** How often one neighbour is told the newest message of a key in a second (`latest.refused`). */
  maxLatestPerS: 100,
  /** A neighbour that does not answer on the newest message of a key is asked again after this long. */
  latestRetryMs: 250,
  /** A tracker that does not say how many are in a stream part is asked again, or the one that serves it then, after this long. */
  countRetryMs: 2_000,
  /** Missing ranges remembered in one stream part; above it, the publisher with the most loses its oldest (counter `dedup.rangesDropped`). */
  maxMissingRanges: 10_000,
  /** Urgent messages of one publisher in one stream part in a second (`urgent.overShare`). */
  maxUrgentPerS: 200,
  /** Their bytes: 4 Mbit/s (`urgent.overShare`). */
  maxUrgentBytesPerS: 512 * 1024,
  /** Those of them with a priority below 64: 256 kbit/s. What is above has priority 128 from here on (`urgent.demoted`). */
  maxFirstBytesPerS: 32 * 1024,
  /** Chains of urgent messages of one publisher in one stream part (`urgent.overShare`). */
  maxUrgentChains: 32,
  /** Places remembered of each; what is older counts as seen (`urgent.duplicates`). */
  maxUrgentPlaces: 512,
  /** Publishers of urgent messages in one stream part within eleven minutes (`urgent.overShare`). */
  maxUrgentPublishers: 256,
  /** While it is not known whether somebody may publish urgent messages, that is asked so often. */
  urgentAskMs: 1_000,
  /** Chains of urgent messages in all stream parts whose floods a node thins; any other is flooded in full. */
  maxUrgentThinChains: 1_024,
  /** Urgent messages of a chain in a second from which on neighbours that bring copies late are asked for digests: pictures are large. */
  urgentThinFromPerS: 1,
  /** Who announces urgent messages so much earlier than they come, several times in a row, is asked for copies. */
  urgentGainMs: 5,
  /** Of urgent messages, neighbours that are no standby gather digests for so long. */
  lazyDigestMs: 60,
  /** An announced urgent message that does not come is asked for after this long at least; otherwise after what is usual. */
  minUrgentPullWaitMs: 15,
  /** And at most. */
  maxUrgentPullWaitMs: 150,
  /** Where the eager way has brought a later one already, it is asked for so soon. */
  urgentPassedMs: 5,
  /** Who was asked and has not sent it a round trip and so long later is passed over for the next one that has it. */
  urgentPullRetryMs: 30,
  /** Urgent messages that one neighbour may name in a second, in digests and when it asks for them (`digest.ignored`, `urgent.notServed`). */
  maxUrgentNamedPerS: 10_000,
  /** Urgent messages that a neighbour was told of are kept for it until their time is over, and for this long at most. */
  maxUrgentKeptMs: 2_000,
  /** Their bytes in all stream parts; of more, the publisher with the most loses its oldest. */
  maxUrgentKeptBytes: 4 * 1024 * 1024,
  /** A range that was given up is still accepted for this long. */
  maxLateAgeMs: 5 * 60_000,
  /** Message chains remembered in one stream part; above it, the publisher with the most loses its least recently used (`dedup.chainsDropped`). */
  maxChains: 1_000,
  /**
   * The same in a key part, which has a chain for each reader of a publisher: 10,000 readers, and as many again. Each takes 0.9 KB
   * (`dedup.chainsDropped`).
   */
  maxKeyChains: 20_000,
  /**
   * Publishers of forgotten chains in one stream part for which it is known how far these were received
   * (`dedup.publishersForgotten`).
   */
  maxForgottenPublishers: 10_000,
  /** Of a chain that is new here, messages this much older than the first one seen are still accepted. */
  chainLookBackMs: 30_000,
  /**
   * A gap reaches back this far from the message that shows it; anything older counts as lost at once (`gap.lost`). A day:
   * after a longer absence ask for a resend.
   */
  maxGapReachMs: 24 * 60 * 60_000,
  /**
   * Messages older than this are accepted only into an open gap (`data.tooOld`). A clock may be behind or ahead by
   * `clockToleranceMs`; the rest is for publishers that wait for neighbours, for look-ups, and for replays.
   */
  maxLiveAgeMs: 10 * 60_000,
  /** Batches kept for replay in one stream part. */
  maxRecentBatches: 10_000,
  /** Bytes kept for replay in one stream part. */
  maxRecentBytes: 8 * 1024 * 1024,
  /** Bytes kept for replay in all stream parts together. */
  maxRecentBytesTotal: 64 * 1024 * 1024,
  /** How long a batch is kept for replay. */
  maxRecentAgeMs: 30_000,
  /** Bytes sent in one replay; beyond it the oldest batches are left out (`replay.truncated`). */
  maxReplayBytes: 2 * 1024 * 1024,
  /** Added to the age for which a neighbour requests a replay, because messages were in flight when it computed the age. */
  replayMarginMs: 1_000,
  /** What a node published while it had no neighbour it sends for so long to whoever attaches, also if that joined later. */
  maxAloneAgeMs: 10_000,
  /** A neighbour that attaches again sooner gets no second replay (`replay.refused`). */
  minReplayIntervalMs: 1_000,
  /** Shortest wait for another path to bring what is missing; otherwise it is one round-trip time to the neighbours. */
  minGapWaitMs: 10,
  /** Longest such wait. */
  maxGapWaitMs: 500,
  /** Missing ranges of one chain that are looked for at once, the oldest first. */
  maxRangesInWork: 256,
  /** Missing ranges of one stream part that are looked at in one tick, and those of one chain more; the others are in the next. */
  maxRangesPerTick: 250,
  /**
   * A range is given up when every neighbour said this many times that it does not have it, since what it sent may have
   * been lost.
   */
  maxFillRounds: 6,
  /** Rounds before the archive is asked; the neighbours go on being asked meanwhile. */
  archiveAfterRounds: 2,
  /** Longest pause between two rounds; the first is as long as the wait for another path, and each one doubles. */
  maxFillPauseMs: 1_000,
  /** No range is given up earlier than this: neighbours that do not have it may be looking for it themselves. */
  minFillAgeMs: 15_000,
  /**
   * A range is given up after this long, unless the archive is still sending. Longer than it takes to find all neighbours dead
   * and to get others, and no longer than those keep what they received.
   */
  maxFillAgeMs: 30_000,
  /** A range that the archive was asked for is given up after this long, whatever the archive does. */
  maxArchiveAgeMs: 60_000,
  /** Fetches in progress to one neighbour. */
  maxFetchesInFlight: 16,
  /** Bytes sent in answer to one fetch, unless a single batch has more. */
  maxFetchReplyBytes: 256 * 1024,
  /** Fetches answered for one neighbour in a second (`fetch.refused`). */
  maxFetchesPerS: 100,
  /** While there is news, neighbours are told this often how far the chains were received; of each chain again when its newest message is so old, twice as old, and so on. */
  headsIntervalMs: 250,
  /** Message chains of one stream part for which one neighbour announced newer messages (`heads.dropped`). */
  maxHeadClaims: 64,
  /** Batches of a chain in a second from which on neighbours that bring copies late are asked for digests. */
  thinFromPerS: 4,
  /** Late copies in a row after which a neighbour is asked. */
  thinAfterLate: 3,
  /** The most of these: they double each time that the neighbour was needed all the same, and are halved when it was not for a while. */
  maxThinAfterLate: 48,
  /** How long a neighbour sends digests unless it is asked again; then it sends copies as before. */
  thinLeaseMs: 10_000,
  /** Who announces batches so much earlier than copies come, several times in a row, is asked for copies. */
  thinGainMs: 25,
  /** A chain whose batches come this long after they were announced, or nearly, is flooded in full until it pauses. */
  maxThinLateMs: 5_000,
  /** Chains of all stream parts whose floods a node thins; any other is flooded in full. */
  maxThinChains: 1_024,
  /** Of one publisher. */
  maxThinChainsOfPublisher: 256,
  /** Chains of which one neighbour may ask for digests (`thin.refused`). */
  maxThinAsks: 1_024,
  /** Digests are sent to one neighbour so far apart at least. */
  digestIntervalMs: 20,
  /** A standby sends a batch when the neighbour has not said for this long that it has it; otherwise it is what is usual on this link. */
  minPushWaitMs: 25,
  /** Longest such wait. */
  maxPushWaitMs: 2_000,
  /** Batches that a neighbour may lack, of all chains of which this node is its standby; of more the oldest are not sent (`thin.dropped`). */
  maxUnsureBatches: 256,
  /** Batches that a standby sends one neighbour in a second, also at once: a link that is late anyway must not be filled. */
  maxPushesPerS: 20,
  /** A standby sends nothing while more bytes than these wait for the link. */
  maxPushQueueBytes: 16 * 1024,
  /** Batches of one chain that neighbours announced and that have not come; of more the oldest are forgotten (`thin.dropped`). */
  maxAnnounced: 64,
  /** Batches in a second fetched from one neighbour because it may have others for the same places (`thin.doubts`). */
  maxDoubtsPerS: 4,
  /** Places of one chain with two signed messages that are reported; further ones are only counted (`data.equivocations`). */
  maxEvidencePerChain: 16,
  /** Batches held while their publishers are being looked up; above it, the neighbour that brought the most loses its newest (`held.refused`). */
  maxHeldBatches: 1_000,
  /** Bytes of batches held while their publishers are being looked up, shared out in the same way (`held.refused`). */
  maxHeldBytes: 4 * 1024 * 1024,
  /** Publishers being looked up at once, shared out in the same way (`held.refused`). */
  maxHeldPublishers: 256,
  /** Batches are held this long while the registry gives no answer on their publisher (`held.unresolved`). */
  maxHeldMs: 30_000,
  /** First pause before a registry that gave no answer is asked again; then it grows. */
  minLookupRetryMs: 250,
  /** Longest such pause. */
  maxLookupRetryMs: 5_000,
  /**
   * Publishers without permission whose batches a neighbour may bring in `deniedWindowMs`, as its registry may be behind
   * or ahead; above it, the neighbour misbehaves.
   */
  maxDeniedPublishers: 256,
  /** How long these publishers are remembered. */
  deniedWindowMs: 10 * 60_000,
  /** A message's timestamp may be this far ahead of this node's clock. */
  clockToleranceMs: 5 * 60_000,
  /** Attached neighbours of one stream part that no instruction has named yet (`attach.full`). */
  maxProvisional: 8,
  /** How long such a neighbour may stay without an instruction. */
  provisionalGraceMs: 5_000,
  /** Feeders of one stream part: nodes that publish there and may not read (`attach.full`). */
  maxFeeders: 256,
  /** Nodes that a host serves as guests; for one more, the newest of the network with the most goes (`guests.dismissed`, `guests.refused`). */
  maxGuests: 256,
  /** Stream parts that a host joins for guests alone, shared out by their networks in the same way (`guests.refused`). */
  maxGuestParts: 64,
  /** Attaches of guests that wait for the registry, or for the host to join the stream part, shared out in the same way (`guests.refused`). */
  maxWaitingGuests: 64,
  /** How often a host asks the registry for guests of one network of addresses in `guestLookupWindowMs` (`guests.refused`). */
  maxGuestLookups: 240,
  /** Over how long these are counted. */
  guestLookupWindowMs: 60_000,
  /** A guest waits this long for the host to join a stream part (`guests.refused`). */
  guestJoinMs: 5_000,
  /** A host leaves a stream part that it joined for guests when it had none for this long, or up to twice as long. */
  guestLingerMs: 30_000,
  /**
   * Bytes that all guests of a host are sent in a second, on average over `guestWindowMs`; above it, the guest that took most in the
   * network that took most is dismissed (`guests.dismissed`).
   */
  maxGuestBytesPerS: 8 * 1024 * 1024,
  /** Over how long these bytes are counted: a replay or a burst is no reason. */
  guestWindowMs: 10_000,
  /** A light node dials the next host when one takes longer to answer. */
  hostStaggerMs: 2_000,
  /** A host that was slow, silent, full or withheld messages is used again after this long, unless there is no other. */
  hostRestMs: 60_000,
  /** Earlier failures of a host are forgotten when its link was open for this long. */
  hostForgiveMs: 10_000,
  /** How often a light node looks at what its hosts have not brought, while there is something. */
  hostWatchMs: 500,
  /** Batches of one stream part that some host has not brought yet; of more the oldest are watched no longer (`hosts.unwatched`). */
  maxWatchedBatches: 4_096,
  /** A host that brings later messages and not this one is asked for it after this long, and after three times as long. */
  hostAskMs: 2_000,
  /** Of a host is expected what was published this long after it was there, as clocks may differ by so much. */
  hostClockMs: 5_000,
  /** It withholds what it has not brought this long after it brought something later (`hosts.withheld`). */
  hostWithholdsMs: 10_000,
  /** A host is silent when others bring messages of a stream part and it has brought none for this long (`hosts.silent`). */
  hostSilentMs: 30_000,
  /** A host whose messages come this much later than another's, on average, is slow. */
  hostSlowMs: 3_000,
  /** Hosts whose figures are remembered: a host that starts anew is another one. */
  maxHostFigures: 64,
  /** Attaches in one stream part that wait for the registry to say who may read or publish (`attach.full`). */
  maxWaitingAttaches: 64,
  /** While the registry gives no answer on an attached user, it is asked again after this long. */
  readerRetryMs: 5_000,
  /**
   * Membership tokens of one peer that are checked in `membershipWindowMs`: an honest one makes two in an hour. A peer
   * that sends more misbehaves.
   */
  maxMembershipTokens: 16,
  /** How long these are counted. */
  membershipWindowMs: 10 * 60_000,
  /** Delegations remembered, of those under which others publish; of whoever brought most the oldest go first. */
  maxDelegations: 20_000,
  /** Signatures of credentials and delegations whose signers are remembered; the ones met longest ago go first. */
  maxRememberedSigners: 1_024,
  /** Neighbours of one stream part remembered as refused. */
  maxRefused: 64,
  /** How long a refused neighbour that no instruction named is refused again at once. */
  refusedMs: 30_000,
  /**
   * A neighbour that is no longer wanted stays at most this long, until both ends have their replacements: longer than a
   * dial may take, so that a failed replacement is itself replaced first.
   */
  retireMs: 20_000,
  /** Neighbours of one stream part that are no longer wanted and stay for now; above it the oldest are detached at once. */
  maxRetiring: 16,
  /** A neighbour that does not answer an attach in this time is reported. */
  attachTimeoutMs: 10_000,
  /** An attach without an answer is sent again after this long, and a repeated one answered again: either may be lost. */
  attachRetryMs: 1_000,
  /** First pause after a failed link or a refused attach; doubles with each. */
  minBackoffMs: 500,
  /** Longest such pause. */
  maxBackoffMs: 30_000,
  /**
   * First rest of a stream part after a fault in its work (`fault.streamPart`), during which it has no neighbours. Doubles
   * with each.
   */
  minFaultRestMs: 1_000,
  /** Longest such rest. */
  maxFaultRestMs: 60_000,
  /** Faults of a stream part are forgotten when there was none for this long. */
  faultForgetMs: 600_000,
  /**
   * After a fault in a tick that belongs to no stream part, the next tick waits this long: a fault in every tick must not
   * spin.
   */
  faultPauseMs: 1_000,
  /** A link is closed when no stream part has used it for this long. */
  linkLingerMs: 10_000,
  /** A peer that misbehaved is not connected to for this long. */
  banMs: 60_000,
  /** Peers remembered as misbehaved; the oldest is forgotten first (`peers.bansDropped`). */
  maxBans: 1_000,
  /** Data packets that a peer may send where it is no neighbour; above it, the peer misbehaves. */
  maxUselessData: 100,
  /** Data that arrives within this time after a detach is not counted against the peer. */
  uselessGraceMs: 5_000,
  /** A status is sent when the wanted neighbours are attached, or after this long. */
  settleMs: 1_000,
  /** After a status in which a round-trip time was not known, look again after this long. */
  firstRttCheckMs: 5_000,
  /** Whether round-trip times changed is looked at this often, for all stream parts at once. */
  rttCheckMs: 30_000,
  /** Stream parts whose round-trip times are reported then, when all that is new is these times; the others have their turn the next time. */
  maxRttReports: 64,
  /** First pause before a tracker is dialled again; doubles with each failure or loss, and is shortened at random by up to a half. */
  minTrackerBackoffMs: 1_000,
  /** The same for a circuit: the tracker that it passes may not have noticed yet that the one behind it is down. */
  minCircuitBackoffMs: 250,
  /** Longest such pause: shorter than a tracker that came back waits for all nodes of an overlay (`confirmWindowMs`). */
  maxTrackerBackoffMs: 10_000,
  /**
   * A connection to a tracker is closed when no stream part has used it for this long; until then it is not told which
   * nodes went elsewhere.
   */
  trackerLingerMs: 10_000,
  /** The next tracker is tried when the one before has not opened for this long (RFC 8305, section 5). */
  trackerStaggerMs: 250,
  /** A tracker gets its stream parts back from a later one when it has been open for this long. */
  trackerSettleMs: 3_000,
  /** Earlier losses of a tracker's connection are forgotten when it has been open for this long. */
  trackerForgiveMs: 300_000,
  /** A tracker that has not answered a join for this long is passed over while there is another (`tracker.silent`). */
  trackerAnswerMs: 2_000,
  /** Trackers are pinged when they were silent for this long: all their nodes should notice a dead one within one adoption. */
  trackerPingIntervalMs: 1_000,
  /** The most that this grows to while a tracker answers and nothing else is said. */
  maxTrackerPingIntervalMs: 3_000,
  /** A tracker is dead when this many pings in a row got no answer. */
  trackerMaxMissedPongs: 2,
  /** Peers whose signalling came through a tracker, remembered for the answer. */
  maxSignalRoutes: 1_000,
} as const

export type NetworkLimits = { readonly [L in keyof typeof networkLimits]: number }
