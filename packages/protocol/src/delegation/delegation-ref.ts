/** How a batch names the delegation that its signer acts under: 32 hexadecimal digits. */
export type DelegationRef = string & { readonly __brand: 'DelegationRef' }

/** Bytes of a reference on the wire. */
export const delegationRefBytes = 16

/** The one that was read last: whoever publishes much names the same again and again, and each comes by several neighbours. */
let lastBytes = new Uint8Array()
let lastRef = '' as DelegationRef

/** The reference in these 16 bytes. */
export function refOfBytes(bytes: Uint8Array): DelegationRef {
  if (isLast(bytes)) return lastRef
  lastBytes = bytes.slice()
  return (lastRef = textOf(bytes))
}

/** Made in one piece, as nodes remember many of them: a text that is put together keeps its pieces in memory. */
function textOf(bytes: Uint8Array): DelegationRef {
  const digits: number[] = []
  for (const byte of bytes) digits.push(digitOf(byte >> 4), digitOf(byte & 15))
  return String.fromCharCode(...digits) as DelegationRef
}

/** The character code of a hexadecimal digit. */
function digitOf(value: number): number {
  return value + (value < 10 ? 0x30 : 0x57)
}

/** A loop, as every packet received comes here: a closure for each byte takes four times as long. */
function isLast(bytes: Uint8Array): boolean {
  for (let i = 0; i < delegationRefBytes; i++) if (bytes[i] !== lastBytes[i]) return false
  return bytes.length === lastBytes.length
}

/** A reference as its 16 bytes. */
export function bytesOfRef(ref: DelegationRef): Uint8Array {
  const byteAt = (i: number): number => Number.parseInt(ref.slice(2 * i, 2 * i + 2), 16)
  return Uint8Array.from({ length: delegationRefBytes }, (_, i) => byteAt(i))
}
