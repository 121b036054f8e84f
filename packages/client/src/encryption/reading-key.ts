import {
  deriveKey,
  nodeIdToBytes,
  typedDataDigest,
  typedDataOf,
  nodeIdFromBytes,
  type CardClaim,
  type Ciphers,
  type NodeId,
  type TypedData,
} from '@runnel/protocol'
import type { Statement } from '../identity/request-signature.ts'

/** Of which reading key it is asked; `block` is 0, as contracts have none. */
export type ReadingKeyClaim = Pick<CardClaim, 'chainId' | 'userId' | 'generation' | 'block'>

const readingKeyKind = {
  primaryType: 'ReadingKey',
  fields: [
    { name: 'purpose', type: 'string' },
    { name: 'warning', type: 'string' },
    { name: 'account', type: 'address' },
    { name: 'generation', type: 'string' },
  ],
} as const

/**
 * What a user signs (EIP-712) to have a reading key. It is the same each time and in all pages and programs, so the signature is, too,
 * where the signer is deterministic (RFC 6979): another text would be another key.
 */
export function readingKeyTypedData({ chainId, userId, generation }: ReadingKeyClaim): TypedData {
  return typedDataOf(readingKeyKind, chainId, {
    purpose:
      'Show this page or program what is encrypted for this account on the Runnel network. It moves no money.',
    warning:
      'Whoever gets this signature can read everything that is encrypted for this account. Sign only where you trust the page or program.',
    account: userId,
    generation: String(generation),
  })
}

/** How the signature of that text is asked for. */
export const readingKeyStatement: Statement<ReadingKeyClaim> = {
  typedData: readingKeyTypedData,
  isSignedByKey(signed, crypto) {
    if (signed.signature.length !== 65) return false
    const digest = typedDataDigest(readingKeyTypedData(signed), crypto)
    const address = crypto.recover(digest, signed.signature, signed.userId)
    return address !== undefined && nodeIdFromBytes(address) === signed.userId
  },
  encode: ({ signature }) => signature,
}

/** The reading key of a user and a generation, 32 bytes: from r ‖ s of the signature of `readingKeyTypedData`, 64 bytes. */
export function readingKeyOf(
  ciphers: Ciphers,
  material: Uint8Array,
  userId: NodeId,
  generation: number,
): Uint8Array {
  return deriveKey(ciphers, material, 'reading key', nodeIdToBytes(userId), u32(generation))
}

/** A generation as it stands in what is hashed. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setUint32(0, value)
  return bytes
}
