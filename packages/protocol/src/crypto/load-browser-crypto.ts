import type { Crypto } from '../ports.ts'
import { createCrypto } from './create-crypto.ts'
import { jsBackend } from './js-backend.ts'

/** Loads the cryptography of a page, which is plain JavaScript: docs/decisions/013-browser.md says why. */
export function loadCrypto(): Promise<Crypto> {
  return createCrypto(jsBackend)
}
