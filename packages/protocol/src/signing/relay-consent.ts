import { writeNodeId } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import { writeContact } from '../messages/codecs/contact.ts'
import type { Contact, RelayConsent } from '../messages/packets.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-relay-v1'

/** Which tracker may pass on what a node says, since when, and how the node is reached. */
export interface RelayClaim {
  readonly nodeId: NodeId
  readonly trackerId: NodeId
  /** Unix milliseconds. */
  readonly sessionMs: number
  readonly contact: Contact
}

/** The 32 bytes a node signs; unlike those of a handshake, a batch or an access token by the length of its domain in the first byte (15). */
export function relayDigest(claim: RelayClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  writeNodeId(writer, claim.nodeId)
  writeNodeId(writer, claim.trackerId)
  writer.u48(claim.sessionMs)
  writeContact(writer, claim.contact)
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}

/** What lets a tracker pass on what the identity says to the tracker that leads. */
export function signRelayConsent(
  claim: Omit<RelayClaim, 'nodeId'>,
  crypto: Crypto,
  identity: Pick<Identity, 'nodeId' | 'sign'>,
): RelayConsent {
  const { trackerId, sessionMs } = claim
  const signature = identity.sign(relayDigest({ ...claim, nodeId: identity.nodeId }, crypto))
  return { trackerId, sessionMs, signature }
}

/** True when the node signed exactly this. Never throws. */
export function verifyRelayConsent(
  { trackerId, sessionMs, signature }: RelayConsent,
  { nodeId, contact }: Pick<RelayClaim, 'nodeId' | 'contact'>,
  crypto: Crypto,
): boolean {
  const address = crypto.recover(relayDigest({ nodeId, trackerId, sessionMs, contact }, crypto), signature)
  return address !== undefined && nodeIdFromBytes(address) === nodeId
}
