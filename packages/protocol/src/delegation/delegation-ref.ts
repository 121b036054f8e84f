import { toHex } from '../codec/hex.ts'

/** How a batch names the delegation that its signer acts under: 32 hexadecimal digits. */
export type DelegationRef = string & { readonly __brand: 'DelegationRef' }

/** Bytes of a reference on the wire. */
export const delegationRefBytes = 16

/** The reference in these 16 bytes. */
export function refOfBytes(bytes: Uint8Array): DelegationRef {
  return toHex(bytes).slice(2) as DelegationRef
}

/** A reference as its 16 bytes. */
export function bytesOfRef(ref: DelegationRef): Uint8Array {
  const byteAt = (i: number): number => Number.parseInt(ref.slice(2 * i, 2 * i + 2), 16)
  return Uint8Array.from({ length: delegationRefBytes }, (_, i) => byteAt(i))
}
