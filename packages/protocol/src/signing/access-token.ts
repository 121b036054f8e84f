import { writeNodeId } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import type { AccessToken } from '../messages/packets.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-access-v1'

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

/** The 32 bytes a user signs; unlike those of a handshake or a batch by the length of its domain in the first byte (16). */
export function accessDigest(claim: AccessClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  for (const id of [claim.userId, claim.requesterId, claim.storageNodeId]) writeNodeId(writer, id)
  writer.u48(claim.expiresMs)
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}

/** A token that lets `requesterId` read in the name of the identity, of one storage node. */
export function signAccessToken(
  claim: Omit<AccessClaim, 'userId'>,
  crypto: Crypto,
  identity: Pick<Identity, 'nodeId' | 'sign'>,
): AccessToken {
  const userId = identity.nodeId
  const signature = identity.sign(accessDigest({ ...claim, userId }, crypto))
  return { userId, expiresMs: claim.expiresMs, signature }
}

/** True when the user signed exactly this and it has not expired. Never throws. */
export function verifyAccessToken(
  token: AccessToken,
  parties: Pick<AccessClaim, 'requesterId' | 'storageNodeId'>,
  wallMs: number,
  crypto: Crypto,
): boolean {
  const { userId, expiresMs, signature } = token
  if (!isTimestamp(expiresMs) || expiresMs <= wallMs) return false
  const address = crypto.recover(accessDigest({ userId, expiresMs, ...parties }, crypto), signature)
  return address !== undefined && nodeIdFromBytes(address) === userId
}

function isTimestamp(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms < 2 ** 48
}
