import { writeWord } from '../codec/fields.ts'
import { Writer } from '../codec/writer.ts'
import { limits } from '../limits.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'

const domain = 'runnel-link-v2'

/** The two ends of a link: who opened it, and to whom. */
export const linkSides = ['dialler', 'listener'] as const
export type LinkSide = (typeof linkSides)[number]

/** The bodies of the two hellos: ids, roles, keys or nonces, and the address dialled are in them. */
export interface Hellos {
  readonly dialler: Uint8Array
  readonly listener: Uint8Array
}

/** What one side of a new link proves to the other. */
export interface HandshakeClaim {
  /** Who signs. */
  readonly prover: LinkSide
  readonly hellos: Hellos
  /** What ties the proof to this channel, such as the fingerprints of its two ends; empty when there is nothing. */
  readonly binding: Uint8Array
}

/**
 * What both sides of a link have said in the open. Every part of variable length carries its length, so that no two pairs of
 * hellos give the same bytes.
 */
export function handshakeTranscript(hellos: Hellos): Uint8Array {
  return transcriptOf(hellos).view()
}

/**
 * The 32 bytes signed in a proof. The first byte (the length of the domain, 14) tells them from the nodes and leaves of a
 * Merkle tree.
 */
export function handshakeDigest(claim: HandshakeClaim, crypto: Crypto): Uint8Array {
  const writer = transcriptOf(claim.hellos)
  writeWord(writer, linkSides, claim.prover, 'prover')
  writer.varint(claim.binding.length)
  writer.raw(claim.binding)
  return ethereumMessageDigest(crypto.keccak256(writer.view()), crypto)
}

function transcriptOf({ dialler, listener }: Hellos): Writer {
  const writer = new Writer()
  writer.ascii(domain, limits.maxTextBytes, 'domain')
  for (const hello of [dialler, listener]) {
    writer.varint(hello.length)
    writer.raw(hello)
  }
  return writer
}
