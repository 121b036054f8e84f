import type { Crypto } from '../ports.ts'
import type { CurveBackend } from './backend.ts'
import { createCrypto } from './create-crypto.ts'
import { loadNativeBackend } from './native-backend.ts'
import { loadWasmBackend } from './wasm-backend.ts'

/** Loaded only where it is needed. */
const loadJsBackend = async (): Promise<CurveBackend> => (await import('./js-backend.ts')).jsBackend

const loaders = { native: loadNativeBackend, wasm: loadWasmBackend, js: loadJsBackend }

export interface CryptoOptions {
  /** Take this one or fail. By default the fastest that loads: native, then wasm, then js. */
  readonly backend?: Crypto['backend']
}

/** Loads the cryptography. Once loaded it is synchronous. */
export async function loadCrypto(options: CryptoOptions = {}): Promise<Crypto> {
  const curve = options.backend ? await loaders[options.backend]() : await fastestCurve()
  return createCrypto(curve)
}

async function fastestCurve(): Promise<CurveBackend> {
  try {
    return await loadNativeBackend()
  } catch {
    // No binary for this platform, or a browser.
  }
  try {
    return await loadWasmBackend()
  } catch {
    // No WebAssembly, or a bundle without the file.
  }
  return loadJsBackend()
}
