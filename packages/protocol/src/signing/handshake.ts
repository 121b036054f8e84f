import { writeNodeId } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import type { NodeId } from '../ids/node-id.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-link-v1'

/** What one side of a new link proves to the other. */
export interface HandshakeClaim {
  /** Whose key signs. */
  readonly prover: NodeId
  /** To whom. */
  readonly verifier: NodeId
  /** The nonces of the two hellos. */
  readonly proverNonce: Uint8Array
  readonly verifierNonce: Uint8Array
  /** As what the prover acts on this link. */
  readonly role: string
  /** What ties the proof to this channel, such as the fingerprints of its two ends; empty when there is nothing. */
  readonly binding: Uint8Array
}

/**
 * The 32 bytes signed in a proof. Every field of variable length carries its length, so that no two claims give the same
 * bytes, and the first byte (the length of the domain, 14) tells them from the nodes and leaves of a Merkle tree.
 */
export function handshakeDigest(claim: HandshakeClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  writer.text(claim.role, limits.maxTextBytes, 'role')
  writeNodeId(writer, claim.prover)
  writeNodeId(writer, claim.verifier)
  for (const bytes of [claim.proverNonce, claim.verifierNonce, claim.binding]) {
    writer.varint(bytes.length)
    writer.raw(bytes)
  }
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}
