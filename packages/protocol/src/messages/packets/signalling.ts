import type { NodeId } from '../../ids/node-id.ts'

export const signalKinds = ['offer', 'answer', 'candidate', 'reject'] as const
export type SignalKind = (typeof signalKinds)[number]

/**
 * WebRTC signalling through a tracker. On the way to the tracker `peerId` is the target, on the way from it the sender. With its own id as
 * the target a node leaves an offer with the tracker, for a neighbour that it is yet to be told of.
 */
export interface Signal {
  readonly type: 'signal'
  readonly peerId: NodeId
  /** Chosen by the offerer; tells attempts apart. Unsigned 32 bits. */
  readonly sessionId: number
  readonly kind: SignalKind
  /** SDP, or `mid\ncandidate`. */
  readonly payload: string
}

/** Tracker → node: the offer that the node left there went to this neighbour, of which an instruction is to tell. */
export interface OfferTaken {
  readonly type: 'offerTaken'
  /** Of the offer. Unsigned 32 bits. */
  readonly sessionId: number
  readonly peerId: NodeId
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
