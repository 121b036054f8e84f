import { writeNodeId } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import type { AccessToken } from '../messages/packets.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-member-v1'

/** Which node takes part in stream parts in whose name, and until when. */
export interface MembershipClaim {
  readonly userId: NodeId
  /** As it proves itself on its links: the token is of no use to anybody else. */
  readonly nodeId: NodeId
  /** Unix milliseconds. */
  readonly expiresMs: number
}

/** The 32 bytes that a user signs. The domain tells them from what else users sign. */
export function membershipDigest(claim: MembershipClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  for (const id of [claim.userId, claim.nodeId]) writeNodeId(writer, id)
  writer.u48(claim.expiresMs)
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}

/** A token that lets `nodeId` take part in stream parts in the name of the identity. */
export function signMembership(
  claim: Omit<MembershipClaim, 'userId'>,
  crypto: Crypto,
  identity: Pick<Identity, 'nodeId' | 'sign'>,
): AccessToken {
  const userId = identity.nodeId
  const signature = identity.sign(membershipDigest({ ...claim, userId }, crypto))
  return { userId, expiresMs: claim.expiresMs, signature }
}

/** True when the user signed exactly this and it has not expired. Never throws. */
export function verifyMembership(
  token: AccessToken,
  nodeId: NodeId,
  wallMs: number,
  crypto: Crypto,
): boolean {
  const { userId, expiresMs, signature } = token
  if (!Number.isInteger(expiresMs) || expiresMs <= wallMs || expiresMs >= 2 ** 48) return false
  const address = crypto.recover(membershipDigest({ userId, nodeId, expiresMs }, crypto), signature)
  return address !== undefined && nodeIdFromBytes(address) === userId
}
