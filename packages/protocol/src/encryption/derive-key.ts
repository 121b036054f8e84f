import type { Ciphers } from '../ciphers/ciphers.ts'

const noSalt = new Uint8Array(32)
const encoder = new TextEncoder()

/** What a derived key is for: two uses never share a key. */
export type KeyUse =
  | 'reading key'
  | 'card'
  | 'keyring'
  | 'keyring id'
  | 'link'
  | 'own epoch'
  | 'wrapped epoch'
  | 'wrapped cohort'
  | 'wrapped publisher'
  | 'earlier epoch'
  | 'publisher'
  | 'batch'

/**
 * A key of 32 bytes: HKDF-SHA256 (RFC 5869) of `key`, without salt, with info = ascii "runnel " ‖ use ‖ 0x00 ‖ context.
 * Of the context at most the last part has a length that varies, so that two contexts never give the same bytes.
 */
export function deriveKey(
  ciphers: Ciphers,
  key: Uint8Array,
  use: KeyUse,
  ...context: readonly Uint8Array[]
): Uint8Array {
  return hkdfSha256(ciphers, key, noSalt, encoder.encode(`runnel ${use}\0`), ...context)
}

/** HKDF-SHA256 (RFC 5869), the first 32 bytes; `info` in parts. */
export function hkdfSha256(
  { hmacSha256 }: Ciphers,
  key: Uint8Array,
  salt: Uint8Array,
  ...info: readonly Uint8Array[]
): Uint8Array {
  return hmacSha256(hmacSha256(salt, key), ...info, Uint8Array.of(1))
}
