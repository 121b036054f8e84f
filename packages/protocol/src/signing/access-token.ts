import type { Identity } from '../crypto/identity.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import type { AccessToken } from '../messages/packets/membership.ts'
import type { Crypto } from '../ports.ts'
import { claimDigest, signClaim, verifyClaim, type UserClaim } from './user-token.ts'

/** Who may ask whom, in whose name, and until when. */
export interface AccessClaim {
  readonly userId: NodeId
  /** The node that asks, as it proved itself on its link; over HTTP, where there is none, the zero address. */
  readonly requesterId: NodeId
  readonly storageNodeId: NodeId
  /** Unix milliseconds. */
  readonly expiresMs: number
}

/** Whoever has an HTTP request with a token: nobody proved to be. */
export const anyRequester: NodeId = nodeIdFromBytes(new Uint8Array(20))

function claimOf({ userId, requesterId, storageNodeId, expiresMs }: AccessClaim): UserClaim {
  return { domain: 'runnel-access-v1', parties: [userId, requesterId, storageNodeId], expiresMs }
}

/** The 32 bytes a user signs; unlike those of a handshake or a batch by the length of its domain in the first byte (16). */
export function accessDigest(claim: AccessClaim, crypto: Crypto): Uint8Array {
  return claimDigest(claimOf(claim), crypto)
}

/** A token that lets `requesterId` read in the name of the identity, of one storage node. */
export function signAccessToken(
  claim: Omit<AccessClaim, 'userId'>,
  crypto: Crypto,
  identity: Pick<Identity, 'nodeId' | 'sign'>,
): AccessToken {
  return signClaim(claimOf({ ...claim, userId: identity.nodeId }), crypto, identity)
}

/** True when the user signed exactly this and it has not expired. Never throws. */
export function verifyAccessToken(
  { userId, expiresMs, signature }: AccessToken,
  parties: Pick<AccessClaim, 'requesterId' | 'storageNodeId'>,
  wallMs: number,
  crypto: Crypto,
): boolean {
  return verifyClaim(claimOf({ userId, expiresMs, ...parties }), signature, wallMs, crypto)
}
