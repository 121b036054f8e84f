import { writeNodeId } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import type { AccessToken } from '../messages/packets/membership.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

/** What a user lets others do in its name, until a time. */
export interface UserClaim {
  /** Tells it from what else users sign: the length of the domain is the first byte. */
  readonly domain: string
  /** Whom it is about, the user first. */
  readonly parties: readonly [userId: NodeId, ...others: NodeId[]]
  /** Unix milliseconds. */
  readonly expiresMs: number
}

/** The 32 bytes that a user signs. */
export function claimDigest({ domain, parties, expiresMs }: UserClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  for (const id of parties) writeNodeId(writer, id)
  writer.u48(expiresMs)
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}

/** A claim in the name of the identity, which is its user. */
export function signClaim(claim: UserClaim, crypto: Crypto, identity: Pick<Identity, 'sign'>): AccessToken {
  const [userId] = claim.parties
  return { userId, expiresMs: claim.expiresMs, signature: identity.sign(claimDigest(claim, crypto)) }
}

/** True when the user signed exactly this and it has not expired. Never throws. */
export function verifyClaim(
  claim: UserClaim,
  signature: Uint8Array,
  wallMs: number,
  crypto: Crypto,
): boolean {
  const { expiresMs, parties } = claim
  const isTimestamp = Number.isInteger(expiresMs) && expiresMs >= 0 && expiresMs < 2 ** 48
  if (!isTimestamp || expiresMs <= wallMs) return false
  const address = crypto.recover(claimDigest(claim, crypto), signature)
  return address !== undefined && nodeIdFromBytes(address) === parties[0]
}
