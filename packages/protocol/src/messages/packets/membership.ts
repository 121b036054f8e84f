import type { NodeId } from '../../ids/node-id.ts'

/** A user lets another node ask a storage node in the user's name: see `accessDigest`. */
export interface AccessToken {
  readonly userId: NodeId
  /** Unix milliseconds. */
  readonly expiresMs: number
  /** 65 bytes, of the user's key. */
  readonly signature: Uint8Array
}

/** In whose name a node takes part in a stream part, and what for. */
export interface Membership {
  /** False: it only publishes there; it is no neighbour in the overlay, and is sent nothing. */
  readonly reads: boolean
  /** Proof that the node acts for a user: see `membershipDigest`. Undefined: the node is the user. */
  readonly token: AccessToken | undefined
}
