/** Every limit of a node, with its default. Everything a peer, a publisher or a tracker can make grow is bounded here. */
export const networkLimits = {
  /** A node with workers leaves batches to them once it has verified on its own thread for longer than this at once. */
  verificationBurstMs: 2,
  /** Share of its time that it verifies on its own thread without being behind: 50 ms a second. */
  verificationShare: 0.05,
  /** Packets of links that wait until the batches before them are verified; above it, the oldest are verified on the node's own thread. */
  maxUnverifiedEvents: 8_192,
  /** Bytes of these packets. */
  maxUnverifiedBytes: 8 * 1024 * 1024,
  /** Keys of one stream part whose newest messages are kept; above it, those that changed longest ago go first (`latest.dropped`). */
  maxLatestKeys: 10_000,
  /** Bytes of the batches that contain these messages (`latest.dropped`). */
  maxLatestBytes: 4 * 1024 * 1024,
  /** The same in all stream parts together; beyond it, the one with most loses those that changed longest ago (`latest.dropped`). */
  maxLatestBytesTotal: 32 * 1024 * 1024,
  /** Newest messages of keys that one neighbour is told in a second (`latest.refused`). */
  maxLatestPerS: 100,
  /** A neighbour that does not answer a question for the newest message of a key is asked again after this long. */
  latestRetryMs: 250,
  /** A tracker that does not answer how many are in a stream part, or the one that serves it by then, is asked again after this long. */
  countRetryMs: 2_000,
  /** Missing ranges remembered in one stream part; above it, the publisher with the most loses its oldest (counter `dedup.rangesDropped`). */
  maxMissingRanges: 10_000,
  /** Urgent messages of one publisher in one stream part in a second (`urgent.overShare`). */
  maxUrgentPerS: 200,
  /** Bytes of these messages: 4 Mbit/s (`urgent.overShare`). */
  maxUrgentBytesPerS: 512 * 1024,
  /** Bytes of those with a priority below 64: 256 kbit/s. Any beyond it have priority 128 from here on (`urgent.demoted`). */
  maxFirstBytesPerS: 32 * 1024,
  /** Chains of urgent messages of one publisher in one stream part within eleven minutes (`urgent.overShare`). */
  maxUrgentChains: 32,
  /** Places remembered of each chain; an older place counts as seen (`urgent.duplicates`). */
  maxUrgentPlaces: 512,
  /** Publishers of urgent messages in one stream part within eleven minutes (`urgent.overShare`). */
  maxUrgentPublishers: 256,
  /** Bytes of urgent messages that wait for the answer whether their publisher may publish (`urgent.unresolved`), as long as they are of use. */
  maxHeldUrgentBytes: 1024 * 1024,
  /** How often it is asked whether somebody may publish urgent messages while that is not known, and what waited in vain is let go. */
  urgentAskMs: 1_000,
  /** Chains of urgent messages in all stream parts whose floods a node thins; any other is flooded in full. */
  maxUrgentThinChains: 1_024,
  /** Urgent messages of a chain in a second from which neighbours that bring copies late are asked for digests: pictures are large. */
  urgentThinFromPerS: 1,
  /** A neighbour that announces urgent messages this long before they arrive, several times in a row, is asked for copies. */
  urgentGainMs: 5,
  /** Shortest time between two digests of urgent messages to one neighbour. */
  urgentDigestIntervalMs: 20,
  /** How long neighbours that are no standby gather digests of urgent messages. */
  lazyDigestMs: 60,
  /** An announced urgent message that does not come is asked for after the usual time, but no sooner than this. */
  minUrgentPullWaitMs: 15,
  /** The longest such wait. */
  maxUrgentPullWaitMs: 150,
  /** The wait when the eager neighbour has already brought a later message. */
  urgentPassedMs: 5,
  /** A neighbour that was asked and has not sent it within a round trip plus this long is passed over for the next that has it. */
  urgentPullRetryMs: 30,
  /** Urgent messages that one neighbour may name in a second, in digests and in requests (`digest.ignored`, `urgent.notServed`). */
  maxUrgentNamedPerS: 10_000,
  /** Urgent messages that a neighbour was told of are kept for it until they expire, and for this long at most. */
  maxUrgentKeptMs: 2_000,
  /** Bytes of these in all stream parts; beyond it, the publisher with the most loses its oldest. */
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
   * Publishers of forgotten chains in one stream part whose progress on these chains is still known
   * (`dedup.publishersForgotten`).
   */
  maxForgottenPublishers: 10_000,
  /** Messages of a chain new to this node are accepted if they are at most this much older than the first one seen. */
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
  /** Bytes kept for replay in all stream parts together; beyond it, the one with most loses its oldest (`recent.dropped`). */
  maxRecentBytesTotal: 64 * 1024 * 1024,
  /** How long a batch is kept for replay. */
  maxRecentAgeMs: 30_000,
  /** Bytes sent in one replay; beyond it the oldest batches are left out (`replay.truncated`). */
  maxReplayBytes: 2 * 1024 * 1024,
  /** Added to the age for which a neighbour requests a replay, because messages were in flight when it computed the age. */
  replayMarginMs: 1_000,
  /** How long a node sends messages that it published without a neighbour to every node that attaches, even one that joined later. */
  maxAloneAgeMs: 10_000,
  /** A neighbour that attaches again sooner gets no second replay (`replay.refused`). */
  minReplayIntervalMs: 1_000,
  /** Shortest wait for another path to bring what is missing; otherwise it is one round-trip time to the neighbours. */
  minGapWaitMs: 10,
  /** Longest such wait. */
  maxGapWaitMs: 500,
  /** Missing ranges of one chain that are looked for at once, the oldest first. */
  maxRangesInWork: 256,
  /** Missing ranges of one stream part looked at in one tick, and those of one chain more; the others wait for the next. */
  maxRangesPerTick: 250,
  /** A range is given up when every neighbour has denied having it this often: anything it sent may have been lost. */
  maxFillRounds: 6,
  /** Rounds before the archive is asked; the neighbours are still asked meanwhile. */
  archiveAfterRounds: 2,
  /** Longest pause between two rounds; the first equals the wait for another path, and each one doubles. */
  maxFillPauseMs: 1_000,
  /** No range is given up earlier than this: neighbours that do not have it may be looking for it themselves. */
  minFillAgeMs: 15_000,
  /** The same where the range ends more than `maxRecentAgeMs` before the newest message of its chain: neighbours keep it no longer, unless it came late. */
  minOldFillAgeMs: 2_000,
  /**
   * A range is given up after this long, unless the archive is still sending. Longer than it takes to find all neighbours dead
   * and get others, and no longer than those keep what they received.
   */
  maxFillAgeMs: 30_000,
  /** A range that the archive was asked for is given up after this long, whatever the archive does. */
  maxArchiveAgeMs: 60_000,
  /** A neighbour that seems farther away is not waited for longer: the next one is asked, and its answer still counts when it comes. */
  maxFetchRttMs: 2_000,
  /** Fetches in progress to one neighbour. */
  maxFetchesInFlight: 16,
  /** Bytes sent in answer to one fetch, unless a single batch has more. */
  maxFetchReplyBytes: 256 * 1024,
  /** Fetches answered for one neighbour in a second (`fetch.refused`). */
  maxFetchesPerS: 100,
  /** While there is news, neighbours are told this often how far the chains were received; each chain again when its newest message is this old, twice as old, and so on. */
  headsIntervalMs: 250,
  /** Message chains of one stream part for which one neighbour announced newer messages (`heads.dropped`). */
  maxHeadClaims: 64,
  /** Batches of a chain in a second from which neighbours that bring copies late are asked for digests. */
  thinFromPerS: 4,
  /** Late copies in a row after which a neighbour is asked for digests. */
  thinAfterLate: 3,
  /** The most that this number grows to: it doubles each time the neighbour was needed after all, and halves after a while without need. */
  maxThinAfterLate: 48,
  /** How long a neighbour sends digests unless it is asked again; then it sends copies as before. */
  thinLeaseMs: 10_000,
  /** A neighbour that announces batches this long before copies come, several times in a row, is asked for copies. */
  thinGainMs: 25,
  /** A chain whose batches come about this long after they were announced, or later, is flooded in full until it pauses. */
  maxThinLateMs: 5_000,
  /** Chains of all stream parts whose floods a node thins; any other is flooded in full. */
  maxThinChains: 1_024,
  /** The same for chains of one publisher. */
  maxThinChainsOfPublisher: 256,
  /** Chains of which one neighbour may ask for digests (`thin.refused`). */
  maxThinAsks: 1_024,
  /** Shortest time between two digests to one neighbour, of messages that are not urgent. */
  digestIntervalMs: 50,
  /** A standby sends a batch when the neighbour has not confirmed having it within the time usual on this link, but no sooner than this. */
  minPushWaitMs: 25,
  /** Longest such wait. */
  maxPushWaitMs: 2_000,
  /** Batches that a neighbour may lack, of all chains of which this node is its standby; beyond it, the oldest are not sent (`thin.dropped`). */
  maxUnsureBatches: 256,
  /** Batches that a standby sends one neighbour in a second, even all at once: a link that is late anyway must not be filled. */
  maxPushesPerS: 20,
  /** A standby sends nothing while more bytes than this wait for the link. */
  maxPushQueueBytes: 16 * 1024,
  /** Batches of one chain that neighbours announced and that have not come; beyond it, the oldest are forgotten (`thin.dropped`). */
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
  /** How long batches are held while the registry does not answer about their publisher (`held.unresolved`). */
  maxHeldMs: 30_000,
  /** First pause before a registry that gave no answer is asked again; later pauses are longer. */
  minLookupRetryMs: 250,
  /** Longest such pause. */
  maxLookupRetryMs: 5_000,
  /**
   * Publishers without permission whose batches a neighbour may bring in `deniedWindowMs`, as its registry may be behind
   * or ahead; beyond it, the neighbour misbehaves.
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
  /** Over how long these look-ups are counted. */
  guestLookupWindowMs: 60_000,
  /** A guest waits this long for the host to join a stream part (`guests.refused`). */
  guestJoinMs: 5_000,
  /** A host leaves a stream part that it joined for guests after this long, or up to twice as long, without any. */
  guestLingerMs: 30_000,
  /**
   * Bytes a second sent to all guests of a host, on average over `guestWindowMs`; above it, the guest that took most in the network
   * that took most is dismissed (`guests.dismissed`).
   */
  maxGuestBytesPerS: 8 * 1024 * 1024,
  /** Over how long these bytes are counted: a replay or a burst is no reason to dismiss. */
  guestWindowMs: 10_000,
  /** A light node dials the next host when one takes longer to answer. */
  hostStaggerMs: 2_000,
  /** A host that was slow, silent, full or withheld messages is used again after this long, or sooner if there is no other. */
  hostRestMs: 60_000,
  /** Earlier failures of a host are forgotten once its link has been open for this long. */
  hostForgiveMs: 10_000,
  /** How often a light node checks which messages its hosts have not brought, while there are any. */
  hostWatchMs: 500,
  /** Batches of one stream part that some host has not brought yet; beyond it, the oldest are no longer watched (`hosts.unwatched`). */
  maxWatchedBatches: 4_096,
  /** A host that brings later messages but not this one is asked for it after this long, and after three times as long. */
  hostAskMs: 2_000,
  /** A host is expected to bring messages published this long after it was there, as clocks may differ by that much. */
  hostClockMs: 5_000,
  /** A host withholds a message that it has not brought this long after it brought a later one (`hosts.withheld`). */
  hostWithholdsMs: 10_000,
  /** A host is silent when others bring messages of a stream part and it has brought none for this long (`hosts.silent`). */
  hostSilentMs: 30_000,
  /** A host whose messages come this much later than another's, on average, is slow. */
  hostSlowMs: 3_000,
  /** Hosts whose figures are remembered: a host that restarts is another one. */
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
  /** How long these tokens are counted. */
  membershipWindowMs: 10 * 60_000,
  /** Delegations remembered, of those under which others publish; beyond it, the neighbour that brought most loses its oldest. */
  maxDelegations: 20_000,
  /** Signatures of credentials and delegations whose signers are remembered; the ones met longest ago go first. */
  maxRememberedSigners: 1_024,
  /** An instruction whose counter is higher by more than this than that of the one before is ignored (`instruction.stale`): trackers raise it by one. */
  maxCounterStep: 2 ** 20,
  /** Neighbours of one stream part remembered as refused. */
  maxRefused: 64,
  /** How long a refused neighbour that no instruction named is refused again at once. */
  refusedMs: 30_000,
  /**
   * A neighbour that is no longer wanted stays at most this long, until both ends have their replacements: longer than a
   * dial may take, so that a failed replacement is itself replaced first.
   */
  retireMs: 20_000,
  /** Neighbours of one stream part that are no longer wanted and stay for now; beyond it, the oldest are detached at once. */
  maxRetiring: 16,
  /** A neighbour that does not answer an attach within this time is reported. */
  attachTimeoutMs: 10_000,
  /** An attach without an answer is sent again after this long, and a repeated one is answered again: either may be lost. */
  attachRetryMs: 1_000,
  /** First pause after a failed link or a refused attach; doubles with each. */
  minBackoffMs: 500,
  /** Longest such pause. */
  maxBackoffMs: 30_000,
  /**
   * First rest of a stream part after a fault in its work (`fault.streamPart`); it has no neighbours meanwhile. Doubles
   * with each.
   */
  minFaultRestMs: 1_000,
  /** Longest such rest. */
  maxFaultRestMs: 60_000,
  /** A stream part's faults are forgotten after this long without one. */
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
  /**
   * Data packets that a peer may send at once without being a neighbour, or a wanted one whose attach is under way, and that nothing below
   * explains; beyond it, the peer misbehaves.
   */
  maxUselessData: 100,
  /** So many of them are forgiven in a second. */
  uselessDataPerS: 10,
  /**
   * Data that arrives within this time after a link has opened, or, with a round-trip time in addition, after a detach has left the link's queue,
   * is not counted against the peer.
   */
  uselessGraceMs: 5_000,
  /** A detach counts as heard of after this long, even if the link's queue has not been empty since. */
  maxUselessGraceMs: 60_000,
  /** After a detach a peer may send so much of what it had in its own queue, however long that takes. As much as the queue of a link holds. */
  maxUselessBacklogBytes: 4 * 1024 * 1024,
  /** A status is sent when the wanted neighbours are attached, or after this long. */
  settleMs: 1_000,
  /** How soon to look again after a status in which a round-trip time was not known. */
  firstRttCheckMs: 5_000,
  /** How often round-trip times are checked for changes, in all stream parts at once. */
  rttCheckMs: 30_000,
  /** Stream parts reported in one such check because only their round-trip times changed; the others have their turn in the next. */
  maxRttReports: 64,
  /** First pause before a tracker is dialled again; doubles with each failure or loss, and is shortened at random by up to a half. */
  minTrackerBackoffMs: 1_000,
  /** The same for a circuit: the tracker on its way may not have noticed yet that the one behind it is down. */
  minCircuitBackoffMs: 250,
  /** Longest such pause: with `trackerSettleMs` shorter than a tracker waits for all nodes of an overlay (`confirmWindowMs`). */
  maxTrackerBackoffMs: 10_000,
  /**
   * A connection to a tracker is closed when no stream part has used it for this long; until then the tracker is not
   * told which nodes went elsewhere.
   */
  trackerLingerMs: 10_000,
  /** The next tracker is tried when the one before has not opened within this time (RFC 8305, section 5). */
  trackerStaggerMs: 250,
  /** A tracker gets its stream parts back from a later one once it has been open for this long. */
  trackerSettleMs: 3_000,
  /** Earlier losses of a tracker's connection are forgotten once it has been open for this long. */
  trackerForgiveMs: 300_000,
  /** A tracker that has not answered a join for this long is passed over while there is another (`tracker.silent`). */
  trackerAnswerMs: 2_000,
  /** An offer that was left with a tracker is withdrawn when it has not gone to a neighbour for this long: longer than a tracker keeps it. */
  openOfferMs: 10_000,
  /** A join waits for its offer for so long at most; then it goes without. */
  offerWaitMs: 50,
  /** Shortest round trip to a tracker with which an offer is left: what it saves. */
  minOfferRttMs: 25,
  /**
   * Statuses that a node sends one tracker in a second, on average: fewer than it takes (`statusesPerSecond`). Stream parts beyond it wait for their
   * turn, and report the newest then.
   */
  statusesPerS: 90,
  /** Such statuses in one burst: with as many offers to store, leaves and new addresses, fewer than a tracker takes (`statusBurst`). */
  statusBurst: 900,
  /** Trackers are pinged when they were silent for this long: all their nodes should notice a dead one within one adoption. */
  trackerPingIntervalMs: 1_000,
  /** The longest that this interval grows to while a tracker answers and nothing else is said. */
  maxTrackerPingIntervalMs: 3_000,
  /** A tracker is dead when this many pings in a row got no answer. */
  trackerMaxMissedPongs: 2,
  /** Peers whose signalling came through a tracker, remembered for the answer. */
  maxSignalRoutes: 1_000,
} as const

export type NetworkLimits = { readonly [L in keyof typeof networkLimits]: number }
