import type {
  ActingFor,
  Address,
  Cancel,
  Contact,
  IceServer,
  NodeId,
  RunnelError,
  Signal,
  UrgentMessage,
} from '@runnel/protocol'
import type { ConnectionLimits } from './connection/limits.ts'
import type { UrgentDrop } from './urgent/urgent-queue.ts'

/** Why a connection closed. `code` is stable; `remote` is true when the other side gave the reason. */
export interface CloseReason {
  readonly code: string
  readonly text: string
  readonly remote: boolean
}

export interface ConnectionEvents {
  /**
   * One packet. `whole` is the packet with its header, to be forwarded unchanged; the views are valid only during the call
   * unless copied or sent.
   */
  onPacket(type: number, body: Uint8Array, whole: Uint8Array): void
  /** The queue fell below the low mark after a `send` had returned false. */
  onDrain(): void
  /** The peer's credential was renewed: `actingFor` has changed. */
  onCredential?(): void
  /** An urgent message was dropped before it was sent; `truncated`, without a message: too little of one from the peer came to read it. */
  onUrgentDropped?(why: UrgentDrop | 'truncated', message?: UrgentMessage): void
  /** A lost packet of an urgent message was sent again. */
  onUrgentRepeated?(): void
  /** The rate of urgent messages that the link carries has changed. */
  onUrgentRate?(): void
  /** Called exactly once, last. */
  onClose(reason: CloseReason): void
}

/** Traffic counters of one connection. */
export interface ConnectionStats {
  readonly packetsIn: number
  /** Those of them that are not the link's own, such as pings, and the fragments of those that are too large for a frame. */
  readonly dataIn: number
  readonly packetsOut: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly framesIn: number
  readonly framesOut: number
  /** Packets refused because the queue was at its limit. */
  readonly packetsDropped: number
}

/**
 * How ICE found an address (RFC 8445, section 4): a local one, one that a NAT assigned, as seen by a STUN server or by the
 * peer, or one of a TURN server.
 */
export type CandidateKind = 'host' | 'srflx' | 'prflx' | 'relay'

/**
 * The kinds of address that the two ends of a WebRTC link send from; with `relay` at either, it goes through a TURN server.
 * The local end of a direct link is mostly `host`, NAT or not, because a check leaves from the local address; the address
 * that the NAT assigned is the `remote` of the other side.
 */
export interface LinkPath {
  readonly local: CandidateKind
  readonly remote: CandidateKind
}

/**
 * What becomes of a packet where it finds no place. One that `mayLose` need not come in order or, if the channel loses packets, at all: others bring it
 * when this link does not, or it is asked for again. One that is `kept` may take what the queue holds in reserve: nothing makes up for its loss. Others
 * are refused when the queue is at its limit.
 */
export type SendMode = 'ordinary' | 'mayLose' | 'kept'

/** An open, mutually authenticated link to one peer, made by a Transport. Packets come at most once, in order unless they may be lost. */
export interface Connection {
  readonly peerId: NodeId
  readonly peerRole: 'node' | 'tracker'
  /** The capabilities that both ends announced. */
  readonly capabilities: ReadonlySet<string>
  /** For whom the peer acts, as its delegation proves; undefined if it showed none. Later it may be renewed, for the same user. */
  readonly actingFor?: ActingFor | undefined
  /** The kind of its transport. */
  readonly transport: string
  /** Set for WebRTC: the present path, which may change in the first seconds. Undefined if the platform does not say. */
  readonly path?: LinkPath | undefined
  /**
   * The address that the bytes come from, as this side's socket sees it; behind a proxy, the proxy's. Undefined if the
   * platform does not say. The connection's cost can be charged to its `networkOf`.
   */
  readonly remoteAddress?: string | undefined
  /** Who dialled. */
  readonly direction: 'outbound' | 'inbound'
  /** Smoothed round-trip time; undefined before the first pong. */
  readonly rttMs: number | undefined
  /**
   * When the latest of the pings that were answered was sent, in milliseconds of the monotonic clock: the peer has what had left the queue before.
   * Undefined before the first pong.
   */
  readonly answeredMs: number | undefined
  /** Bytes queued here or in the channel. */
  readonly queuedBytes: number
  /** False above the high mark: a publisher should wait for `onDrain`. */
  readonly writable: boolean
  readonly stats: ConnectionStats
  /** What `DialRequest.first` gave and went behind this side's proof; undefined where nothing did, or it no longer matters. */
  saidFirst?: Uint8Array | undefined
  /** Set by the owner before the end of the turn in which it was given the connection. */
  events: ConnectionEvents
  /**
   * Queues one whole packet for the end of this turn; the packets of a turn are packed into as few frames as may be.
   * False when the packet was refused because the queue is at its limit (counted in stats) or the connection is closed.
   */
  send(packet: Uint8Array, mode?: SendMode): boolean
  /**
   * Sends an urgent message before all other packets, or drops it, which only `onUrgentDropped` tells. It may come after later ones, or
   * never. False when the peer does not know urgent messages, or the connection is closed.
   */
  sendUrgent(message: UrgentMessage): boolean
  /**
   * The rate of a publisher's urgent messages that the link carries now, in kbit/s, beside those of others. Undefined when the peer does not
   * know urgent messages.
   */
  urgentKbitPerSOf(publisher: string): number | undefined
  /** Sends what is queued, then a close packet, then closes. Idempotent. */
  close(code: string, text: string): void
}

export interface DialRequest {
  /**
   * The peer that must answer; any other fails the dial with PEER_ID_MISMATCH. Undefined: any peer at the URL, whose transport needs
   * no signalling.
   */
  readonly peerId: NodeId | undefined
  /** Where to dial; absent if the id is enough. */
  readonly url?: string
  /** True when a peer named the URL: a node learns it from trackers, which learn it from the node that claims to be there. */
  readonly isTold?: boolean
  readonly timeoutMs?: number
  /** Limits of this connection that override those of the transport. */
  readonly limits?: Partial<ConnectionLimits>
  /**
   * Asked for packets to send behind this side's proof, before the peer has proven itself: they save a round trip. It is asked only where the proof is
   * the first frame on a channel that is bound to what the peer's signals said, so that nobody reads them but the peer and who carried its signals. It
   * may decline. The connection says what was sent.
   */
  readonly first?: (() => Uint8Array | undefined) | undefined
  /** Exactly one of `onOpen` and `onFail` is called, once, never before `dial` returns; neither after the dial was cancelled. */
  onOpen(connection: Connection): void
  onFail(error: RunnelError): void
}

/** A signal to a peer that is yet to be chosen. */
export type OpenSignal = Pick<Signal, 'sessionId' | 'kind' | 'payload'>

export interface OpenOfferRequest {
  /** How long a signal takes from here to the tracker that chooses, in milliseconds; undefined while unknown. */
  readonly signalDelayMs?: number | undefined
  send(signal: OpenSignal): boolean
}

/** An offer to a peer that is yet to be chosen. It ends by itself like any dial. */
export interface OpenOffer {
  readonly sessionId: number
  /** The peer is chosen: signals go to it, and a dial of it takes this offer up. If nobody dials it, the connection goes to `onInbound`. */
  taken(peerId: NodeId): void
  /** Gives it up, if no peer has been chosen. */
  withdraw(): void
}

/** A way to open links. Constructors only store; nothing listens before `start`. */
export interface Transport {
  /** Its name in addresses and contacts. A node has one transport of each kind. */
  readonly kind: string
  /**
   * Where others reach this node, known after `start`: none when they cannot dial it, and an empty text if
   * signalling reaches it.
   */
  readonly addresses: readonly string[]
  /** Links opened by others. Set by the owner before `start`. */
  onInbound: (connection: Connection) => void
  /** For a transport whose links are opened by signalling: an attempt by the peer has failed. Set by the owner before `start`. */
  onInboundFailed?: (peerId: NodeId) => void
  /** Further addresses for contacts, which belong to no transport: where this node carries circuits. Default: none. */
  readonly offers?: readonly Address[]
  /** Counts of other things than links, by the names of the node's metrics. */
  readonly metrics?: Readonly<Record<string, number>>
  /** Called when `addresses` changes while it runs. Set by the owner before `start`. */
  onAddresses?: () => void
  start(): Promise<void>
  /** Closes the listener and every connection and pending dial, with code SHUTTING_DOWN. Idempotent. */
  stop(): Promise<void>
  /** Whether the URL belongs to this transport, not whether anybody is there. */
  canDial(url: string): boolean
  dial(request: DialRequest): Cancel
  /**
   * For a transport whose links are opened by signalling: takes a signal that a tracker relayed; its `peerId` is the sender.
   * Signals name no transport, so a node has at most one such transport.
   */
  handleSignal?(signal: Signal): void
  /**
   * For such a transport: begins a link with a peer that is yet to be chosen. `send` takes its signals, and says whether they could be sent; none comes
   * before this returns. Undefined while there is no room for another link.
   */
  offerOpenly?(request: OpenOfferRequest): OpenOffer | undefined
  /** For such a transport: what this side does in a link with the peer that is under way already; undefined where there is none. */
  roleWith?(peerId: NodeId): 'dial' | 'wait' | undefined
  /** For such a transport: sets the servers for future links. */
  setIceServers?(servers: readonly IceServer[]): void
}

/** Carries WebRTC signalling to a peer; in production through a tracker. */
export interface Signalling {
  /** False when there is no way to the peer now. */
  send(signal: Signal): boolean
  /** How long a signal takes from here to the relay to the peer, in milliseconds; undefined while unknown. */
  delayMs?(peerId: NodeId): number | undefined
}

export interface LinkEvents {
  onOpened(peerId: NodeId, connection: Connection): void
  onClosed(peerId: NodeId, reason: CloseReason): void
  /** A `connect` failed after every way was tried. */
  onFailed(peerId: NodeId, error: RunnelError): void
  onPacket(peerId: NodeId, type: number, body: Uint8Array, whole: Uint8Array): void
  onDrain(peerId: NodeId): void
  onCredential?(peerId: NodeId): void
  onUrgentDropped?(peerId: NodeId, why: UrgentDrop | 'truncated', message?: UrgentMessage): void
  onUrgentRepeated?(peerId: NodeId): void
  onUrgentRate?(peerId: NodeId): void
}

/** See `Links.find`. */
export interface FindRequest extends Pick<DialRequest, 'peerId'> {
  readonly url: string
  readonly timeoutMs: number
  onFound(peerId: NodeId): void
  onFail(error: RunnelError): void
}

/**
 * The one owner of all connections: at most one per peer, however many ways it was dialled.
 * Of two connections that open at once (both sides dialled), the ids decide which one both sides keep.
 *
 * A link is idle when the peer opened it and this side has no use for it: this side has neither asked for it nor sent or kept
 * anything on it. The number of idle links is limited. A newer one evicts the longest silent one of its network first.
 */
export interface Links {
  events: LinkEvents
  readonly peers: ReadonlyMap<NodeId, Connection>
  /**
   * Makes sure there is a link, or that `onFailed` says why not. The possible ways are tried in the order in which the node
   * with the lower id lists its transports: a WebSocket if one side is reachable (the other one dials; if both are, the lower
   * id dials), else WebRTC (the lower id offers). The side that dials in the first way dials in all, one after the other. The
   * passive side waits, with the same time limit. `alone` says that the peer was not told to connect: then this side dials in
   * every way it can. `again` says that signals of an attempt before may have been lost, of either side: if the first way is by signals, this side dials
   * anew, whoever did before. `first` is as of a DialRequest.
   */
  connect(
    peerId: NodeId,
    contact: Contact,
    options?: { readonly alone?: boolean; readonly again?: boolean } & Pick<DialRequest, 'first'>,
  ): void
  /** Marks the link as used by this side, whoever opened it: it is not closed as unused. */
  keep(peerId: NodeId): void
  /**
   * Opens a link to the peer at a URL that this side's operator chose. Exactly one of its callbacks is called, once, unless it is
   * cancelled; `onFound` before the link's `onOpened`, or when there is a link to that peer already.
   */
  find(request: FindRequest): Cancel
  /** Closes the link, or stops opening it. */
  disconnect(peerId: NodeId, code: string, text: string): void
  /** As for a Connection. False when there is no link or its queue is at its limit. */
  send(peerId: NodeId, packet: Uint8Array, mode?: SendMode): boolean
  /** As for a Connection. */
  sendUrgent(peerId: NodeId, message: UrgentMessage): boolean
}
