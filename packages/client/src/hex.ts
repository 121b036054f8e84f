/** 0x and two lower-case digits a byte. */
export function toHex(bytes: Uint8Array): string {
  return bytes.reduce((hex, byte) => hex + byte.toString(16).padStart(2, '0'), '0x')
}
