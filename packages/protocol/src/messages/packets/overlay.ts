import type { Membership } from './membership.ts'
import type { NodeId } from '../../ids/node-id.ts'
import type { StreamPartId } from '../../ids/stream-id.ts'

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

/** Tracker → node: a request that was refused, without closing the connection. */
export interface TrackerError {
  readonly type: 'trackerError'
  readonly code: string
  readonly message: string
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
