/** The bytes of 0x and pairs of hexadecimal digits; undefined for anything else. */
export function bytesOfHex(hex: string): Uint8Array | undefined {
  if (!/^0x([0-9a-fA-F]{2})+$/.test(hex)) return undefined
  return Uint8Array.from({ length: hex.length / 2 - 1 }, (_, i) =>
    Number.parseInt(hex.slice(2 * i + 2, 2 * i + 4), 16),
  )
}
