const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  let [bits, held] = [0, 0]
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xffff
    for (bits += 8; bits >= 6; bits -= 6) text += alphabet[(held >> (bits - 6)) & 63]
  }
  return bits === 0 ? text : text + (alphabet[(held << (6 - bits)) & 63] ?? '')
}

/** The bytes of base64url text, as `toBase64Url` gives it; undefined for text that it does not give. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes: number[] = []
  let [bits, held] = [0, 0]
  for (const letter of text) {
    const value = alphabet.indexOf(letter)
    if (value < 0) return undefined
    held = ((held << 6) | value) & 0xffff
    bits += 6
    if (bits < 8) continue
    bits -= 8
    bytes.push((held >> bits) & 0xff)
  }
  const decoded = Uint8Array.from(bytes)
  return toBase64Url(decoded) === text ? decoded : undefined
}
