const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** `0x` and two lower-case hexadecimal digits a byte. */
export function toHex(bytes: Uint8Array): string {
  let text = '0x'
  for (const byte of bytes) text += hexOfByte[byte]
  return text
}
