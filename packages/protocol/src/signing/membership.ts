import type { Identity } from '../crypto/identity.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { AccessToken } from '../messages/packets/membership.ts'
import type { Crypto } from '../ports.ts'
import { claimDigest, signClaim, verifyClaim, type UserClaim } from './user-token.ts'

/** Which node takes part in stream parts in whose name, and until when. */
export interface MembershipClaim {
  readonly userId: NodeId
  /** As it proves itself on its links: the token is of no use to anybody else. */
  readonly nodeId: NodeId
  /** Unix milliseconds. */
  readonly expiresMs: number
}

function claimOf({ userId, nodeId, expiresMs }: MembershipClaim): UserClaim {
  return { domain: 'runnel-member-v1', parties: [userId, nodeId], expiresMs }
}

/** The 32 bytes that a user signs. The domain tells them from what else users sign. */
export function membershipDigest(claim: MembershipClaim, crypto: Crypto): Uint8Array {
  return claimDigest(claimOf(claim), crypto)
}

/** A token that lets `nodeId` take part in stream parts in the name of the identity. */
export function signMembership(
  claim: Omit<MembershipClaim, 'userId'>,
  crypto: Crypto,
  identity: Pick<Identity, 'nodeId' | 'sign'>,
): AccessToken {
  return signClaim(claimOf({ ...claim, userId: identity.nodeId }), crypto, identity)
}

/** True when the user signed exactly this and it has not expired. Never throws. */
export function verifyMembership(
  { userId, expiresMs, signature }: AccessToken,
  nodeId: NodeId,
  wallMs: number,
  crypto: Crypto,
): boolean {
  return verifyClaim(claimOf({ userId, nodeId, expiresMs }), signature, wallMs, crypto)
}
