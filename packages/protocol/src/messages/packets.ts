import type { DelegationRef } from '../delegation/delegation-ref.ts'
import type { Delegation } from '../delegation/delegation.ts'
import type { Card } from '../encryption/card.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { StreamPartId } from '../ids/stream-id.ts'
import type { MessageBatch, MessageRef } from './stream-message.ts'

/**
 * The versions of the protocol that are spoken here; a hello says them. 3 is protocol 1.0: 1 and 2 came before it. What a later
 * version adds without breaking this one are packets and capabilities that may be unknown.
 */
export const protocolVersions: VersionRange = { oldest: 3, newest: 3 }

export interface VersionRange {
  readonly oldest: number
  readonly newest: number
}

/** What a side can do in addition to its version: of later versions, or of somebody's own. */
export interface Capability {
  /** Of printable ASCII. */
  readonly name: string
  /** A side without it is refused. */
  readonly required: boolean
}

/** The capability of a side that shows for whom it acts: its credential comes with its proof. */
export const actsForCapability = 'acts-for'

/** The capability of nodes and trackers that know `about` and `fullStatus`. */
export const reportsCapability = 'reports'

/** The capability of trackers that answer `askCount`, and of nodes that ask. */
export const countsCapability = 'counts'

/** The capability of nodes that know `askLatest` and `latest`; of storage nodes also of `askTable`. */
export const latestCapability = 'latest'

/** The capability of nodes that know `thin`, `digest`, and of urgent messages `urgentDigest` and `urgentPull`: neighbours may ask them to flood less. */
export const thinCapability = 'thin'

/** The capability of a host, which serves guests, and of light nodes: `guestAttach` goes over links where both ends have it. */
export const guestsCapability = 'guests'

/** The capability of nodes that know urgent messages: `urgent`, `piece`, `mark` and `arrivals` go over links where both ends have it. */
export const urgentCapability = 'urgent'

/** The capability of nodes that take packets by a lane that may lose them and changes their order, where a link has one. */
export const lossyCapability = 'lossy'

/** The capability of nodes that know batches with an alias in place of their header. */
export const shortCapability = 'short'

export const linkRoles = ['node', 'tracker'] as const
export type LinkRole = (typeof linkRoles)[number]

/** With what the frames of a link are sealed: the ciphers that Noise calls AESGCM and ChaChaPoly. */
export const sealings = ['none', 'aes-256-gcm', 'chacha20-poly1305'] as const
export type Sealing = (typeof sealings)[number]

/** First packet in each direction of a new link: who I claim to be, and my part of what both sign. */
export interface Hello {
  readonly type: 'hello'
  readonly versions: VersionRange
  readonly role: LinkRole
  readonly nodeId: NodeId
  /** 32 random bytes; where frames are sealed, an X25519 public key made for this link alone. */
  readonly nonce: Uint8Array
  /** What the dialler chose; `none` in the hello of a listener, and on channels that are bound to their two ends. */
  readonly sealing: Sealing
  /** `host:port` as the dialler dialled it; empty in the hello of a listener, and where there is no such address. */
  readonly address: string
  /** Software name and version, for people. */
  readonly agent: string
  readonly capabilities: readonly Capability[]
}

/** Second packet in each direction: the signature that proves the id of the hello. See docs/protocol.md, handshake. */
export interface Proof {
  readonly type: 'proof'
  readonly signature: Uint8Array
}

/** `token` comes back in the pong. */
export interface Ping {
  readonly type: 'ping'
  readonly token: number
}
export interface Pong {
  readonly type: 'pong'
  readonly token: number
}

/** Why a link is being closed; the last packet on it. */
export interface Close {
  readonly type: 'close'
  readonly code: string
  readonly reason: string
}

/** For whom the sender acts: right behind its proof, where its hello has the capability `acts-for`, and again when it has a new one. */
export interface CredentialPacket {
  readonly type: 'credential'
  readonly delegation: Delegation
  /** Where the sender's key is not the delegate: the delegate's leave for it, as in a membership. */
  readonly token: AccessToken | undefined
}

/** A piece of a packet too large for one frame of the channel. Pieces arrive in order; `last` completes the packet. */
export interface Fragment {
  readonly type: 'fragment'
  readonly last: boolean
  readonly bytes: Uint8Array
}

/**
 * A part of an urgent batch too large for one frame. Pieces may come in any order, and between those of other objects; where one does not come
 * while there is time, the others are of no use.
 */
export interface Piece {
  readonly type: 'piece'
  /** Which object on this link; not that of another one under way. Unsigned 32 bits. */
  readonly object: number
  /** From 0. */
  readonly index: number
  readonly count: number
  /** As of an `urgent`, when this piece was sent. */
  readonly remainingMs: number
  /** Of the batch. */
  readonly bytes: Uint8Array
}

/** Numbers the frame that it is in, whose arrival the receiver then tells. Each number once on a link, growing. */
export interface Mark {
  readonly type: 'mark'
  /** Unsigned 32 bits. */
  readonly number: number
}

/** When frames with a mark came, by a clock of the receiver that begins anywhere, in tenths of a millisecond. */
export interface Arrivals {
  readonly type: 'arrivals'
  /** How long ago the newest of them came. */
  readonly heldTenthsMs: number
  /** By ascending number; those that are missing may be lost, or come later. */
  readonly frames: readonly { readonly number: number; readonly atTenthsMs: number }[]
}

/** A flooded message of an urgent chain: alone in its batch, see `urgentMessageOf`. It may be lost, and is not looked for. */
export interface Urgent {
  readonly type: 'urgent'
  /**
   * What is left of the message's lifetime, whole milliseconds: whoever sends it on subtracts the time it waited and half of the link's
   * round trip. At most the lifetime that is signed.
   */
  readonly remainingMs: number
  readonly batch: MessageBatch
}

/** Flooded messages. */
export interface Data {
  readonly type: 'data'
  readonly batch: MessageBatch
}

/** How far a node has got in one message chain. */
export interface ChainHead extends MessageRef {
  readonly publisherId: NodeId
  readonly messageChainId: string
}

/** In whose name a node takes part in a stream part, and what for. */
export interface Membership {
  /** False: it only publishes there; it is no neighbour in the overlay, and is sent nothing. */
  readonly reads: boolean
  /** Proof that the node acts for a user: see `membershipDigest`. Undefined: the node is the user. */
  readonly token: AccessToken | undefined
}

/** "We are neighbours in this stream part." Both sides send one; the other's cache closes the gap since `sinceMs` ago and after `heads`. */
export interface Attach {
  readonly type: 'attach'
  readonly streamPartId: StreamPartId
  /** Replay what you received in the last `sinceMs` milliseconds (an age, so clocks need not agree); 0 asks for nothing. */
  readonly sinceMs: number
  /** Of these chains replay only what comes after. */
  readonly heads: readonly ChainHead[]
  /** Absent: it reads, in its own name. */
  readonly membership?: Membership
}

/**
 * "I am your guest in this stream part": as an attach, of a node that is in no overlay and forwards nothing. The host answers with an
 * attach.
 */
export interface GuestAttach extends Omit<Attach, 'type'> {
  readonly type: 'guestAttach'
}

/** "We are no longer neighbours in this stream part." */
export interface Detach {
  readonly type: 'detach'
  readonly streamPartId: StreamPartId
  readonly reason: DetachReason
}
export const detachReasons = [
  'left',
  'replaced',
  'not-joined',
  'not-wanted',
  'full',
  'not-permitted',
] as const
export type DetachReason = (typeof detachReasons)[number]

/** What is missing in a message chain: everything after `after`, up to and including `upTo`. */
export interface MissingRange {
  readonly after: MessageRef
  readonly upTo: MessageRef
}

/** "Send me what you have of these ranges of one chain": asked of a neighbour, answered with data and then `fetched`. */
export interface Fetch {
  readonly type: 'fetch'
  /** Chosen by the asker, comes back in `fetched`. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** At least one; in order, each beginning where the one before ends or later. */
  readonly ranges: readonly MissingRange[]
}

/** The end of an answer to `fetch`. */
export interface Fetched {
  readonly type: 'fetched'
  readonly requestId: number
  /** False when there was more than fits one answer: what is still missing can be asked for again. */
  readonly complete: boolean
}

/** How far I have got: a neighbour that is behind learns of what it missed at the end of a chain. */
export interface Heads {
  readonly type: 'heads'
  readonly streamPartId: StreamPartId
  readonly heads: readonly ChainHead[]
}

/**
 * How a neighbour sends the batches of a message chain: as they come; after a while those that the asker has not got by then; or only when
 * they are fetched. Of the last two it tells the places in digests.
 */
export const floodModes = ['eager', 'standby', 'digest'] as const
export type FloodMode = (typeof floodModes)[number]

/** "Send me this chain like that from now on, for so long." Asked of a neighbour, who sends eagerly whenever nothing else is asked. */
export interface Thin {
  readonly type: 'thin'
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
  /** Stands for the chain in digests; chosen by the asker, unique among its own. Unsigned 32 bits. */
  readonly alias: number
  readonly mode: FloodMode
  /** In milliseconds; after it the mode is `eager`. */
  readonly forMs: number
}

/** A batch that the sender has, by the place of its last message. */
export interface DigestEntry extends MessageRef {
  readonly alias: number
  /** Whose alias it is: true of the sender's, in an answer to a standby that did not ask for digests itself. */
  readonly isSenders: boolean
  /** Tells two batches apart that were signed for one place: see `digestCheck`. */
  readonly check: number
}

/** "These batches I have": of chains that the receiver asked to be told of, or is standby for. */
export interface Digest {
  readonly type: 'digest'
  /** At least one. */
  readonly entries: readonly DigestEntry[]
}

/** An urgent message, by its place and by the alias that the node which asked for less gave its chain. */
export interface UrgentPlace extends MessageRef {
  /** Unsigned 32 bits. */
  readonly alias: number
}

/** "These urgent messages I have": to who asked, by `thin`, to be told of them in place of copies. */
export interface UrgentDigest {
  readonly type: 'urgentDigest'
  /** At least one; `check` as in a digest. */
  readonly entries: readonly (UrgentPlace & Pick<DigestEntry, 'check'>)[]
}

/** "Send me these, if there is time left": of those that the receiver named in a digest. */
export interface UrgentPull {
  readonly type: 'urgentPull'
  /** At least one. */
  readonly entries: readonly UrgentPlace[]
}

/** "Which is the newest message that you know of this key?" Asked of a neighbour, answered with `latest`. */
export interface AskLatest {
  readonly type: 'askLatest'
  /** Chosen by the asker, comes back in `latest`. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  /** See `keyTagOf`. Undefined: the newest of all, with a key or without. */
  readonly tag: Uint8Array | undefined
}

/** The batch that the message is in; undefined where the neighbour knows none. The asker checks it like any other, and does not flood it. */
export interface Latest {
  readonly type: 'latest'
  readonly requestId: number
  readonly batch: MessageBatch | undefined
}

/**
 * Flooded messages that say how long they have been under way: nodes that measure send these in place of `data`. Nobody
 * signs the trace, and nothing but measurements may depend on it. A node that does not measure takes the batch and
 * forwards it as `data`.
 */
export interface Traced {
  readonly type: 'traced'
  /** Links taken so far, this one not included. */
  readonly hops: number
  /** Since it was published until it was sent, in whole microseconds. */
  readonly ageUs: number
  /** When it was sent, by the sender's monotonic clock, in whole microseconds. */
  readonly sentUs: number
  readonly batch: MessageBatch
}

/** "What time is it?" Asked by nodes that measure; others need not answer. */
export interface ClockAsk {
  readonly type: 'clockAsk'
  /** Comes back in the answer. Unsigned 32 bits. */
  readonly token: number
}

/** The answerer's monotonic clock, in whole microseconds from any moment. */
export interface ClockTell {
  readonly type: 'clockTell'
  readonly token: number
  readonly atUs: number
}

/** Under which delegation batches are signed that come next on this link. */
export interface DelegationPacket {
  readonly type: 'delegation'
  readonly delegation: Delegation
}

/** The sender got a batch with this reference, and has not got the delegation. */
export interface AskDelegation {
  readonly type: 'askDelegation'
  readonly ref: DelegationRef
}

/** One way to reach a node. Who does not know the kind carries the address on and does not dial it. */
export interface Address {
  /** Of transport: lower-case letters, digits and hyphens. `websocket`, `webrtc` and `tcp` are known. */
  readonly kind: string
  /** Where, in the words of that transport: a URL; empty where signalling finds the node. */
  readonly text: string
}

/** How a node can be reached, and what it can reach others by: data, of which only the transports know what it means. */
export interface Contact {
  /** At most 8. Of several of one kind the first is dialled. */
  readonly addresses: readonly Address[]
  /** The kinds of transport that it dials, the cheapest first. */
  readonly dials: readonly string[]
}

/** Node → tracker, first after the handshake, and again when it changes: how others reach me. */
export interface NodeInfo {
  readonly type: 'nodeInfo'
  readonly contact: Contact
}

/**
 * Node → tracker, once, after its first node info: for people. Nobody checks it.
 */
export interface About {
  readonly type: 'about'
  /** What it is: `node`, `storage`, `client` and `page`, or others; lower-case letters, digits and hyphens. */
  readonly role: string
  /** Of its software, printable ASCII; empty: not told. */
  readonly version: string
  /** That its operator gave it, printable ASCII; empty: none. */
  readonly name: string
}

export interface NeighbourReport {
  readonly nodeId: NodeId
  /** Round-trip time in milliseconds, with a resolution of 0.1; undefined before the first pong. */
  readonly rttMs: number | undefined
  /** By what the two are linked, a number of `transportCode`; undefined: as it was told before. Only a full status has it. */
  readonly transport?: number
}

/** Why a wanted neighbour is not one. */
export const failureReasons = [
  'unreachable',
  'timeout',
  'lost',
  'refused',
  'misbehaved',
  'incompatible',
] as const
export type FailureReason = (typeof failureReasons)[number]
export interface FailedNeighbour {
  readonly nodeId: NodeId
  readonly reason: FailureReason
}

/** Node → tracker: my state in one stream part. The first one joins. */
export interface Status {
  readonly type: 'status'
  readonly streamPartId: StreamPartId
  /** Counter of the newest instruction handled; 0 before the first. */
  readonly counter: number
  readonly neighbours: readonly NeighbourReport[]
  /** Edges that were ordered and could not be opened, or were lost, since the last status. */
  readonly failed: readonly FailedNeighbour[]
  /** Absent: it reads, in its own name. */
  readonly membership?: Membership
}

/** The same, with the transports: to a tracker that has the capability, when it was not told them before. */
export interface FullStatus extends Omit<Status, 'type'> {
  readonly type: 'fullStatus'
}

/** Node → tracker: I am no longer in this stream part. */
export interface Leave {
  readonly type: 'leave'
  readonly streamPartId: StreamPartId
}

/**
 * Tracker → node: an earlier tracker leads this stream part, and I can reach it. The node reports there, directly or by a
 * circuit over me.
 */
export interface Redirect {
  readonly type: 'redirect'
  readonly streamPartId: StreamPartId
  readonly leaderId: NodeId
}

export interface WantedNeighbour {
  readonly nodeId: NodeId
  readonly contact: Contact
}

/** Tracker → node: the whole set of neighbours wanted in one stream part. The highest counter wins. */
export interface Instruction {
  readonly type: 'instruction'
  readonly streamPartId: StreamPartId
  readonly counter: number
  readonly neighbours: readonly WantedNeighbour[]
}

export const signalKinds = ['offer', 'answer', 'candidate', 'reject'] as const
export type SignalKind = (typeof signalKinds)[number]

/** WebRTC signalling through a tracker. On the way to the tracker `peerId` is the target, on the way from it the sender. */
export interface Signal {
  readonly type: 'signal'
  readonly peerId: NodeId
  /** Chosen by the offerer; tells attempts apart. Unsigned 32 bits. */
  readonly sessionId: number
  readonly kind: SignalKind
  /** SDP, or `mid\ncandidate`. */
  readonly payload: string
}

export interface IceServer {
  readonly url: string
  readonly username: string
  readonly credential: string
}

/** Tracker → node: STUN and TURN servers to use, with credentials that expire. */
export interface IceServers {
  readonly type: 'iceServers'
  readonly servers: readonly IceServer[]
  /** Seconds the credentials are good for; 0 when they do not expire. The tracker sends new ones before. */
  readonly ttlS: number
}

/** Tracker → node: a request that was refused, without closing the connection. */
export interface TrackerError {
  readonly type: 'trackerError'
  readonly code: string
  readonly message: string
}

/** Node → tracker: I keep, or no longer keep, the messages of this stream part. */
export interface Storing {
  readonly type: 'storing'
  readonly streamPartId: StreamPartId
  readonly storing: boolean
}

/** Node → tracker: who keeps the messages of this stream part? */
export interface FindStorage {
  readonly type: 'findStorage'
  readonly requestId: number
  readonly streamPartId: StreamPartId
}

/** Tracker → node: the storage nodes it knows. For a while it relays signalling between them and the node that asked. */
export interface StorageNodes {
  readonly type: 'storageNodes'
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly nodes: readonly WantedNeighbour[]
}

/** Node → tracker: how many nodes are in this stream part, in which I am? */
export interface AskCount {
  readonly type: 'askCount'
  /** Chosen by the asker, comes back in the answer. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
}

/** Tracker → node: so many, the asker among them. Guests of hosts are not known to trackers. */
export interface Count {
  readonly type: 'count'
  readonly requestId: number
  /** Nodes in the overlay. */
  readonly readers: number
  /** Nodes that only publish. */
  readonly feeders: number
}

/** Which stored messages of a stream part. Both ends of a range belong to it. */
export type ResendSelection =
  | { readonly kind: 'last'; readonly count: number }
  | { readonly kind: 'range'; readonly from: MessageRef; readonly to: MessageRef }

/**
 * Node → storage node: send me these messages. Batches come in the order of their first messages, each at most once, and
 * may hold messages before and after what was asked for. The storage node may send `windowBytes` of batches (the bytes
 * of `resendData` bodies) and what `resendMore` adds; one batch may go over it.
 */
export interface Resend {
  readonly type: 'resend'
  /** Chosen by the asker; not that of a request still under way on this link. Unsigned 32 bits. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly selection: ResendSelection
  /** Only of this publisher. */
  readonly publisherId: NodeId | undefined
  /** Only of this chain; goes with a publisher. */
  readonly messageChainId: string | undefined
  readonly windowBytes: number
  /** Proof that the asker acts for a user who may subscribe: see `AccessToken`. Undefined: the asker is the user. */
  readonly token: AccessToken | undefined
}

/**
 * Node → storage node: send me the newest message of each key, or of one. Answered with `resendData` and `resendEnd`, each batch once and in
 * any order, and as much as is granted: as a resend, but without a beginning. Other messages may be in the batches.
 */
export interface AskTable {
  readonly type: 'askTable'
  /** As in a resend. */
  readonly requestId: number
  readonly streamPartId: StreamPartId
  /** See `keyTagOf`. Undefined: of every key. */
  readonly tag: Uint8Array | undefined
  readonly windowBytes: number
  readonly token: AccessToken | undefined
}

/** Storage node → node: the request was accepted, and what it comes to. */
export interface ResendStart {
  readonly type: 'resendStart'
  readonly requestId: number
  /**
   * Where the selection begins and ends: of `last`, the first and the last of those messages, and two equal places when
   * there are none; what is stored from now on is not in it.
   */
  readonly from: MessageRef
  readonly to: MessageRef
  /** Messages in the selection, when it is `last` and there are fewer or just as many; 0 otherwise. */
  readonly count: number
}

export interface ResendData {
  readonly type: 'resendData'
  readonly requestId: number
  readonly batch: MessageBatch
}

/** Node → storage node: so many more bytes may be sent. */
export interface ResendMore {
  readonly type: 'resendMore'
  readonly requestId: number
  readonly bytes: number
}

/** Storage node → node: all was sent (empty code), or why not. Nothing follows. */
export interface ResendEnd {
  readonly type: 'resendEnd'
  readonly requestId: number
  readonly code: string
  readonly text: string
}

/** Node → storage node: nothing more of this, please. `resendEnd` need not come. */
export interface ResendCancel {
  readonly type: 'resendCancel'
  readonly requestId: number
}

/** Node → storage node: tell me when this message is stored durably. */
export interface AwaitStored extends ChainHead {
  readonly type: 'awaitStored'
  readonly requestId: number
  readonly streamPartId: StreamPartId
  readonly token: AccessToken | undefined
}

/** Storage node → node: it is (empty code), or why not; of a message, or of a card. */
export interface Stored {
  readonly type: 'stored'
  readonly requestId: number
  readonly code: string
  readonly text: string
}

/** Node → storage node: keep this card, and tell me. */
export interface KeepCard {
  readonly type: 'keepCard'
  readonly requestId: number
  readonly card: Card
}

/** Node → storage node: which cards have you got of these users? Each is named once. */
export interface AskCards {
  readonly type: 'askCards'
  readonly requestId: number
  readonly userIds: readonly NodeId[]
}

/** Storage node → node: those it has, at most one of each user. */
export interface Cards {
  readonly type: 'cards'
  readonly requestId: number
  readonly cards: readonly Card[]
}

/** A user lets another node ask a storage node in the user's name: see `accessDigest`. */
export interface AccessToken {
  readonly userId: NodeId
  /** Unix milliseconds. */
  readonly expiresMs: number
  /** 65 bytes, of the user's key. */
  readonly signature: Uint8Array
}
