/**
 * Every limit and duration of a tracker. What a peer can make grow has its limit and default here; each limit that refuses
 * something has a counter in `counters.ts`.
 */
export interface TrackerLimits {
  /**
   * Nodes known at once. Above it, the last node of the network (/24 or /48) with the most is refused (`nodesRefused`) or
   * disconnected (`nodesEvicted`).
   */
  readonly maxNodes: number
  /** How long a node may take to send its node info, in milliseconds; then it is disconnected (`nodesWithoutInfo`). */
  readonly nodeInfoWindowMs: number
  /** How long a node that is in no stream part and asks for nothing stays connected, in milliseconds (`nodesIdle`). */
  readonly idleNodeMs: number
  /**
   * Stream parts with at least one node. Above it, the last of those that the network with the most keeps alive is given
   * up: the new one (`streamPartsRefused`), or another (`streamPartsEvicted`).
   */
  readonly maxStreamParts: number
  /**
   * Nodes of a stream part about to be given up that are searched for one in a network with fewer stream parts; that
   * network is then charged for it.
   */
  readonly maxPartPayersTried: number
  /**
   * How long a stream that the registry lacks is not looked up again, in milliseconds, unless the registry
   * changes; nodes that join it are refused (`streamsMissing`).
   */
  readonly missingStreamMs: number
  /**
   * Statuses kept of nodes whose users the registry denies, or has not answered about, or whose stream it does not have;
   * above it, the oldest of the network with the most is forgotten, and its node asks again.
   */
  readonly maxWaitingStatuses: number
  /** Pause before a registry that did not answer about a user or a stream is asked again, in milliseconds. */
  readonly registryRetryMs: number
  /** Such streams remembered; the oldest are forgotten first. */
  readonly maxMissingStreams: number
  /** Stream parts one node may be in. Further ones are refused (`streamPartsRefused`). */
  readonly maxStreamPartsPerNode: number
  /**
   * Statuses, leaves and node infos of one node a second, on average, and beside them as many stream parts in which its neighbours are told of a new
   * contact; a node that sends more is disconnected (`floodsRefused`).
   */
  readonly statusesPerSecond: number
  /** Such messages in one burst: more than `statusBurst` of nodes, and enough to report every stream part twice. */
  readonly statusBurst: number
  /** Signals of one node that are relayed a second, on average; further ones are refused (`signalsRefused`). */
  readonly signalsPerSecond: number
  /** Such signals in one burst. */
  readonly signalBurst: number
  /**
   * Error replies to one node a second, on average: beyond it, it is not told what was wrong; and a node that exceeds its rates more often is
   * disconnected (`floodsRefused`).
   */
  readonly errorsPerSecond: number
  /** Such replies in one burst. */
  readonly errorBurst: number
  /**
   * Edges that one node may have replaced in one stream part a second, on average; further reports are ignored
   * (`edgeFailuresIgnored`), so that no node can select its neighbours by rejecting others.
   */
  readonly edgeFailuresPerSecond: number
  /** Such edges in one burst. */
  readonly edgeFailureBurst: number
  /** How long changes of a stream part are collected after an instruction was sent, in milliseconds. */
  readonly quietWindowMs: number
  /** How long a node without neighbours waits for an overlay to be taken over before it gets temporary edges into it, in milliseconds. */
  readonly adoptionWindowMs: number
  /**
   * How long at most the statuses of an unknown overlay are gathered before it is taken over, in milliseconds: nodes that
   * had no tracker for long come back at different times (`maxTrackerBackoffMs` and `trackerSettleMs` of nodes).
   */
  readonly adoptionPatienceMs: number
  /**
   * How often a second the nodes of one network may have another overlay taken over into a known one, on average; above
   * it, nodes that report neighbours join as newcomers (`claimsIgnored`).
   */
  readonly takeoversPerSecond: number
  /** Such takeovers in one burst. */
  readonly takeoverBurst: number
  /** How long a node may be disconnected before it is removed, in milliseconds. */
  readonly disconnectGraceMs: number
  /**
   * How long a node that has connected again, or is known from a replica, may take to report its stream parts, in
   * milliseconds: longer than nodes need to come back (`maxTrackerBackoffMs` and `trackerSettleMs` of nodes).
   */
  readonly confirmWindowMs: number
  /** How long a pair whose edge failed is avoided, in milliseconds. */
  readonly avoidPairMs: number
  /** Pairs avoided at once; the oldest are forgotten first (`avoidedPairsDropped`). */
  readonly maxAvoidedPairs: number
  /** How long signals may pass along an edge that is no longer wanted, in milliseconds. */
  readonly signalPermitMs: number
  /** Such edges at once; the oldest are forgotten first (`signalPermitsDropped`). */
  readonly maxSignalPermits: number
  /**
   * How long an open offer is kept for a new neighbour of its node (`openOffersDropped`), and then how long candidates that the node leaves with it are passed
   * on to the neighbour that has it (`openSignalsIgnored`), in milliseconds: a join takes less.
   */
  readonly openOfferMs: number
  /** Open offers at once, one a node; the oldest are forgotten first (`openOffersDropped`). */
  readonly maxOpenOffers: number
  /**
   * Candidates kept with an open offer; further ones are ignored (`openSignalsIgnored`), and so are those with which it would be larger than one
   * signal may be.
   */
  readonly maxOpenCandidates: number
  /**
   * Questions for storage nodes answered to one node a second, on average; further ones are refused
   * (`storageQuestionsRefused`).
   */
  readonly storageQuestionsPerSecond: number
  /** Such questions in one burst: enough for every partition of two streams. */
  readonly storageQuestionBurst: number
  /**
   * Questions for the number of nodes in a stream part answered to one node a second, on average; further ones are refused
   * (`countQuestionsRefused`).
   */
  readonly countQuestionsPerSecond: number
  /** Such questions in one burst: enough for every partition of two streams. */
  readonly countQuestionBurst: number
  /** How long signals may pass between a storage node and a node that was told of it, in milliseconds; asking again renews it. */
  readonly storagePermitMs: number
  /** Such pairs at once; the oldest are forgotten first (`storagePermitsDropped`). */
  readonly maxStoragePermits: number
  /** An instruction that no status has answered is sent again after this time, in milliseconds. */
  readonly resendAfterMs: number
  /** How often at most it is sent again (`resendsGivenUp`). */
  readonly maxResends: number
  /** Most neighbours per node that the owner of a stream can choose. */
  readonly maxChosenDegree: number
  /**
   * Peers whose round-trip times are remembered for a node in one stream part, in overlays that use them; those reported
   * longest ago are forgotten first.
   */
  readonly maxMeasuredPeers: number
  /** How often overlays that use round-trip times are improved, in milliseconds. */
  readonly improvementIntervalMs: number
  /** Nodes improved each time, in all stream parts together. */
  readonly improvementsPerInterval: number
  /** Edges of one node exchanged for nearer ones in one stream part a second, on average; further exchanges wait. */
  readonly exchangesPerSecond: number
  /** Such exchanges in one burst: enough for a node to find its place. */
  readonly exchangeBurst: number
  /** First rest of a stream part after a fault in its work (`streamPartFaults`), in milliseconds; doubles with each fault. */
  readonly minFaultRestMs: number
  /** Longest such rest, in milliseconds. */
  readonly maxFaultRestMs: number
  /** A stream part's faults are forgotten after this long without one, in milliseconds. */
  readonly faultForgetMs: number
  /**
   * A tracker that stalled for this long starts anew, in milliseconds: no longer than nodes and other trackers take to
   * notice the stall and go on without it.
   */
  readonly stallMs: number
  /** Largest instruction counter a node may report; a node that reports a larger one is disconnected (`malformedStatuses`). */
  readonly maxCounter: number
}

export const defaultTrackerLimits: TrackerLimits = {
  maxNodes: 20_000,
  nodeInfoWindowMs: 10_000,
  idleNodeMs: 120_000,
  maxStreamParts: 100_000,
  maxPartPayersTried: 16,
  missingStreamMs: 60_000,
  maxMissingStreams: 10_000,
  maxWaitingStatuses: 10_000,
  registryRetryMs: 5_000,
  maxStreamPartsPerNode: 1_000,
  statusesPerSecond: 100,
  statusBurst: 2_000,
  signalsPerSecond: 100,
  signalBurst: 2_000,
  errorsPerSecond: 10,
  errorBurst: 200,
  edgeFailuresPerSecond: 0.2,
  edgeFailureBurst: 16,
  quietWindowMs: 50,
  adoptionWindowMs: 1_500,
  adoptionPatienceMs: 15_000,
  takeoversPerSecond: 1 / 300,
  takeoverBurst: 3,
  disconnectGraceMs: 2_000,
  confirmWindowMs: 15_000,
  avoidPairMs: 60_000,
  maxAvoidedPairs: 100_000,
  signalPermitMs: 30_000,
  maxSignalPermits: 100_000,
  openOfferMs: 5_000,
  maxOpenOffers: 1_000,
  maxOpenCandidates: 16,
  storageQuestionsPerSecond: 10,
  storageQuestionBurst: 200,
  countQuestionsPerSecond: 10,
  countQuestionBurst: 200,
  storagePermitMs: 60_000,
  maxStoragePermits: 100_000,
  resendAfterMs: 5_000,
  maxResends: 5,
  maxChosenDegree: 16,
  maxMeasuredPeers: 32,
  improvementIntervalMs: 250,
  improvementsPerInterval: 256,
  exchangesPerSecond: 1 / 60,
  exchangeBurst: 40,
  minFaultRestMs: 1_000,
  maxFaultRestMs: 60_000,
  faultForgetMs: 600_000,
  stallMs: 2_000,
  maxCounter: 2 ** 48,
}
