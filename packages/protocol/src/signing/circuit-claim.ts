import { Writer } from '../codec/writer.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-circuit-v1'

/** What a node signs to be found at the node that carries circuits. */
export interface CircuitClaim {
  /** Random bytes that the carrier chose for this socket. */
  readonly challenge: Uint8Array
  /** The `host:port` of the carrier as the node dialled it, so that the claim is good at no other. */
  readonly address: string
}

/** The 32 bytes signed. The first byte (the length of the domain, 17) tells them from the proofs of links. */
export function circuitClaimDigest({ challenge, address }: CircuitClaim, crypto: Crypto): Uint8Array {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  writer.varint(challenge.length)
  writer.raw(challenge)
  writer.ascii(address, limits.maxUrlBytes, 'address')
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}
