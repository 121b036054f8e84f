import type {
  ActingFor,
  BuiltBatch,
  Contact,
  Contradiction,
  Delegation,
  DelegationRef,
  DirectPacket,
  MessageBatch,
  MessageChain,
  MissingRange,
  NodeId,
  RunnelError,
  MessageRef,
  StreamMessage,
  StreamPartId,
  UrgentMessage,
  WantedNeighbour,
} from '@runnel/protocol'
export type { PublisherPolicy, ReaderPolicy } from '@runnel/protocol'
import type { LinkPath, UrgentDrop } from '@runnel/transport'
import type { Kept } from './core/stream-part/kept.ts'
import type { LinkModes } from './core/thin/link-modes.ts'

/** Calls `listener` whenever this machine's network is back, until the returned function is called. */
export type OnNetworkBack = (listener: () => void) => () => void

/** The delegations that a node knows: those that batches name. */
export interface NodeDelegations {
  get(ref: DelegationRef): Delegation | undefined
  /** True if the delegation says nothing here: its user signed it for another chain. */
  isOfOtherChain(delegation: Delegation): boolean
  /** True if the delegation is known here, signed by its user as far as can be said without a chain, and within bounds. Checked once. */
  isGood(ref: DelegationRef): boolean
  /** Makes a delegation known, so that it is sent along with batches signed under it. Returns its reference. */
  add(delegation: Delegation): DelegationRef
}

/** A tracker as found in a registry. */
export interface TrackerAddress {
  readonly nodeId: NodeId
  readonly url: string
}

/** Which trackers serve which stream part; may change at run time. */
export interface TrackerDirectory {
  /** In order of preference; empty when none is known. */
  trackersFor(streamPartId: StreamPartId): readonly TrackerAddress[]
  /** Calls `listener` when an answer may have changed. */
  onChange(listener: () => void): () => void
}

/** A message delivered to the application. */
export interface Delivery {
  readonly streamPartId: StreamPartId
  readonly message: StreamMessage
  /** The neighbour that it came from; undefined for the node's own messages. */
  readonly from: NodeId | undefined
  /** For an urgent message, the batch that contains it alone, for whoever records it: nobody else keeps it. */
  readonly urgentBatch?: MessageBatch | undefined
}

export interface StreamPartMetrics {
  readonly streamPartId: StreamPartId
  readonly neighbours: readonly {
    readonly nodeId: NodeId
    readonly transport: string
    readonly rttMs: number | undefined
    /** Set for WebRTC: the kind of address that each end uses; `relay` is through a TURN server. */
    readonly path?: LinkPath | undefined
    /** Set while this node thins the floods of chains of the stream part: how many of them go over this link as copies, or as digests. */
    readonly modes?: LinkModes | undefined
  }[]
  readonly wantedNeighbours: number
  readonly delivered: number
  readonly duplicates: number
  readonly published: number
}

/** Messages of one chain that did not come. */
export interface Gap extends MissingRange {
  readonly streamPartId: StreamPartId
  readonly chain: MessageChain
}

/**
 * A publisher signed two different messages for one place of a chain. Both signatures were checked: the two batches are the
 * proof.
 */
export interface Equivocation extends Contradiction {
  readonly streamPartId: StreamPartId
  /** Which of the two this node had delivered, or would deliver to a node that joins later. */
  readonly delivered: 'winner' | 'loser'
}

/** Where a light node finds a host. */
export interface HostAddress {
  /** A URL of a transport that this node has, such as `wss://host.example.com`. */
  readonly url: string
  /** The node that must answer there; only for a host with a fixed key. Default: any. */
  readonly nodeId?: NodeId | undefined
}

/** A light node's way to take part: through hosts, in no overlay, without forwarding anything. */
export interface HostsOptions {
  /** The preferred first. */
  readonly hosts: readonly HostAddress[]
  /** The number of hosts it is linked to at once. */
  readonly atOnce: number
}

/** What a host of a light node has done: numbers of messages, and times in milliseconds. */
export interface HostFigures {
  /** Messages that it brought before all others. */
  readonly deliveredFirst: number
  readonly delivered: number
  /** Messages that it brought two seconds or more after another host. */
  readonly late: number
  /** Messages that it did not bring, and, when asked, said it does not have. */
  readonly withheld: number
  /** How much later than the first copy its messages come, on average; undefined before any. */
  readonly lagMs: number | undefined
}

/** A host and its present figures. */
export interface HostView extends HostFigures {
  readonly nodeId: NodeId
  readonly url: string
}

/**
 * Messages of one chain that a host did not bring within ten seconds although it brought later ones and was asked twice. Their signatures
 * prove that they exist. Nothing proves that the host had them: the nodes that brought them, together with their publisher, may have kept
 * them from it.
 */
export interface WithheldMessages {
  readonly streamPartId: StreamPartId
  readonly hostId: NodeId
  readonly chain: MessageChain
  /** In order; each ends with a message that is missing. */
  readonly ranges: readonly MissingRange[]
  readonly messages: number
  /** The hosts that brought them; none if the archive did. */
  readonly deliveredBy: readonly NodeId[]
}

/** News of a host. */
export interface HostNews {
  readonly url: string
  /** The host's id, once it is known. */
  readonly nodeId?: NodeId | undefined
  /** `refused`: in one stream part. `slow`, `silent`: another host is used instead, if there is one. */
  readonly state: 'connected' | 'lost' | 'failed' | 'refused' | 'slow' | 'silent'
  readonly error?: RunnelError | undefined
}

/**
 * A source of messages older than those that neighbours have: in production, storage nodes. Fills gaps that the
 * neighbours cannot fill.
 */
export interface Archive {
  /**
   * Passes every batch that it has of the gap to `give`, which checks it like one from a neighbour. Resolves when it has no
   * more; messages still missing then are lost. It should not reject: its owner reports failures.
   */
  fill(gap: Gap, give: (batchBytes: Uint8Array) => void, signal: AbortSignal): Promise<void>
}

/** How a node takes part in a stream part. */
export interface JoinOptions {
  /** Ask neighbours, and then the archive, for missing messages. Default true; the last call for a stream part wins. */
  readonly fillGaps?: boolean
  /**
   * False if the node's user may publish but not read: the node is then no neighbour in the overlay, sends what it publishes
   * to some members, and receives nothing. Default true; the last call for a stream part wins.
   */
  readonly reads?: boolean
  /**
   * Keep the newest message of each key for as long as there is room, rather than for 30 s, to tell it to neighbours. Default false;
   * the last call for a stream part wins.
   */
  readonly keepsLatest?: boolean
  /**
   * Also what was published so long before, in milliseconds, as far as neighbours and the archive still have it. Default 0; only the first
   * call for a stream part counts.
   */
  readonly lookBackMs?: number
}

/** How far a batch has travelled. Only in nodes that measure, for batches from such nodes. */
export interface Trace {
  /** Links it has taken; 0 for the node's own. */
  readonly hops: number
  /** Milliseconds since it was published, by the clocks of the links it has taken. */
  readonly ageMs: number
}

/**
 * An error in this build, or in what it depends on. `streamPartId` is the stream part whose work it ended; the node leaves
 * that stream part and joins it again. `peerId` is the peer whose connection was closed. With neither, some work was
 * abandoned.
 */
export interface NodeFault {
  readonly streamPartId?: StreamPartId
  readonly peerId?: NodeId
  readonly error: unknown
}

/** Events for the embedding application. */
export interface NodeEvents {
  message: (delivery: Delivery) => void
  /**
   * A batch was accepted: checked, new at least in part, and flooded on. Comes before its messages. Also comes for a batch
   * that replaces one accepted before (`equivocation`): none of its messages are delivered.
   */
  batch: (streamPartId: StreamPartId, batch: MessageBatch, trace: Trace | undefined) => void
  /** A batch arrived again. */
  duplicate: (streamPartId: StreamPartId, batch: MessageBatch) => void
  /** A publisher signed two messages for one place; once for a place, and at most 16 times for a chain. */
  equivocation: (equivocation: Equivocation) => void
  /** A gap was given up: these messages will not come, though a very late one may still. */
  gap: (gap: Gap) => void
  /** A packet of a direct link; the listener may keep its bytes. */
  direct: (peerId: NodeId, packet: DirectPacket) => void
  /** A link to a peer closed. */
  linkClosed: (peerId: NodeId) => void
  /** A link to a peer could not be opened in any way; its tracker is told too. */
  linkFailed: (peerId: NodeId, error: RunnelError) => void
  /** The set of attached neighbours of a joined stream part changed, or its tracker says that there are no candidates. */
  neighbours: (streamPartId: StreamPartId, neighbours: readonly NodeId[]) => void
  /** In a light node: a host was linked or lost, or does not do what it should. */
  host: (news: HostNews) => void
  /** In a light node: a host did not bring messages that others brought. */
  withheld: (withheld: WithheldMessages) => void
  /**
   * In a host: guests that may read or publish in a stream part, which this node is not in, want to be served there; or none has for
   * a while. Join it, or not.
   */
  guestPart: (streamPartId: StreamPartId, isWanted: boolean) => void
  /** A connection to a tracker opened, perhaps by a better way than one that is open already; or the last one closed. */
  tracker: (trackerId: NodeId, state: 'connected' | 'disconnected', error?: RunnelError) => void
  /** NODE_REPLACED: a tracker said that another process has the key of this node. The node stops. */
  replaced: (error: RunnelError) => void
  /** A fault ended some work and nothing else. */
  fault: (fault: NodeFault) => void
  /** Something was dropped or refused; `counter` is the name of the metric that grew. */
  dropped: (counter: string, detail: string) => void
  /** The rate of urgent messages that the link with a neighbour carries has changed. */
  urgentRate: (peerId: NodeId) => void
  /** A link dropped its copy of an urgent message before it was sent. */
  urgentDropped: (why: UrgentDrop, message: UrgentMessage) => void
  /** An urgent message of this process exceeded what its publisher may send in a stream part, and went to nobody. */
  urgentOverShare: (chain: MessageChain) => void
}

export interface WaitForNeighboursOptions {
  /** Default 1. */
  readonly count?: number
  /** Resolves also when the tracker says that nobody else is in the stream part. Default false. */
  readonly orAlone?: boolean
  readonly signal?: AbortSignal | undefined
}

/** How many nodes are in a stream part, as its tracker knows: including this one, without guests of hosts. */
export interface NodeCount {
  /** Nodes in the overlay, which read or may read. */
  readonly readers: number
  /** Nodes that publish but may not read. */
  readonly feeders: number
}

/** The embeddable node. */
export interface NetworkNode {
  readonly nodeId: NodeId
  readonly contact: Contact
  start(): Promise<void>
  stop(): Promise<void>
  /** If joined already, only the options change. */
  join(streamPartId: StreamPartId, options?: JoinOptions): void
  leave(streamPartId: StreamPartId): void
  readonly streamParts: readonly StreamPartId[]
  /** The hosts that a light node is linked to. */
  readonly hosts: readonly HostView[]
  /** Resolves when the stream part has at least `count` attached neighbours (default 1). */
  waitForNeighbours(streamPartId: StreamPartId, options?: WaitForNeighboursOptions): Promise<void>
  /**
   * Floods a batch that this process built, unchecked and unchanged. Does not join. False when every neighbour's queue is above its high mark: the
   * batch is sent all the same, but wait for `writable` before the next. Throws NOT_JOINED, NODE_NOT_RUNNING and STREAM_PART_FAILED; in the last case
   * it may or may not have been sent.
   */
  publish(batch: BuiltBatch): boolean
  /**
   * Takes a batch that another process signed, as if from a neighbour: checks it, and floods it if it is new. The `dropped` event says why
   * a batch was not flooded. Throws NOT_JOINED, NODE_NOT_RUNNING, and what decoding throws.
   */
  relay(batchBytes: Uint8Array): void
  /**
   * The rate that a publisher's urgent messages may take in a stream part, in kbit/s: what the links carry to all receivers but the worst, so
   * that one bad link holds nobody up; receivers that asked for less do not count. Undefined if nobody receives urgent messages.
   */
  urgentKbitPerS(streamPartId: StreamPartId, publisherId: NodeId): number | undefined
  /** Resolves when at least one neighbour can take more. */
  writable(streamPartId: StreamPartId, signal?: AbortSignal): Promise<void>
  /** True while a message at this place of the chain was not delivered and may still be: it is missing, or the next of its batch. */
  isMissing(streamPartId: StreamPartId, chain: MessageChain, place: MessageRef): boolean
  /**
   * Opens a direct link to any node, or shares the existing one, and keeps it until `release`; the peer may close it after not needing it
   * for a while. For WebRTC, the tracker of `streamPartId` must have told one of the two nodes of the other (`findStorage`); without
   * `streamPartId`, addresses are dialled. Rejects with LINK_FAILED, ABORTED, NODE_NOT_RUNNING.
   */
  connect(
    peer: WantedNeighbour,
    options: { readonly streamPartId?: StreamPartId | undefined; readonly signal?: AbortSignal },
  ): Promise<{ release(): void }>
  /** Whether a peer with a link and this node both have a capability. */
  hasCapability(peerId: NodeId, name: string): boolean
  /**
   * Keeps an open link until the returned function is called: a link with a request in progress must not be closed as
   * unused.
   */
  hold(peerId: NodeId): () => void
  /** The delegations known here. */
  readonly delegations: NodeDelegations
  /** For whom a peer with a link acts, as it proved; undefined if it showed no delegation. */
  actingFor(peerId: NodeId): ActingFor | undefined
  /**
   * False when there is no link or its queue is full. Before the first `resendData` signed under a delegation, the peer is sent
   * the delegation if it is known here.
   */
  sendDirect(peerId: NodeId, packet: DirectPacket): boolean
  /** Bytes waiting to be sent to a peer; 0 without a link. */
  queuedBytes(peerId: NodeId): number
  /** Resolves when the link's queue has room again, or there is no link. */
  drained(peerId: NodeId, signal?: AbortSignal): Promise<void>
  /** Tells the trackers of a joined stream part that this node stores it, or no longer does. */
  offerStorage(streamPartId: StreamPartId, storing: boolean): void
  /** Asks the responsible tracker who stores a stream part, which need not be joined. Rejects with TRACKER_LOST or ABORTED. */
  findStorage(streamPartId: StreamPartId, signal?: AbortSignal): Promise<readonly WantedNeighbour[]>
  /**
   * Asks the tracker how many nodes are in a joined stream part. Rejects with NOT_JOINED, COUNT_UNAVAILABLE in a light node and when the
   * tracker does not count, TRACKER_LOST, NODE_NOT_RUNNING, and the signal's reason.
   */
  countNodes(streamPartId: StreamPartId, signal?: AbortSignal): Promise<NodeCount>
  /** The attached neighbours in a stream part; none if it is not joined. */
  neighboursOf(streamPartId: StreamPartId): readonly NodeId[]
  /**
   * The batch with the newest message of a key (`keyTagOf`), or of all messages, that this node took while in the stream part; undefined
   * if it no longer has one, or does not read.
   */
  latest(streamPartId: StreamPartId, tag: Uint8Array | undefined): MessageBatch | undefined
  /**
   * Asks a neighbour for the same batch, repeatedly until it answers. The answer is not checked. Undefined if the neighbour has none,
   * cannot be asked, or its link closes. Rejects with the signal's reason.
   */
  askLatest(
    peerId: NodeId,
    streamPartId: StreamPartId,
    options: { readonly tag: Uint8Array | undefined; readonly signal: AbortSignal },
  ): Promise<MessageBatch | undefined>
  on<E extends keyof NodeEvents>(event: E, listener: NodeEvents[E]): () => void
  metrics(): {
    readonly counters: Readonly<Record<string, number>>
    readonly streamParts: readonly StreamPartMetrics[]
  }
  /** How much a joined stream part keeps of what others sent; undefined when it is not joined. */
  kept(streamPartId: StreamPartId): Kept | undefined
}
