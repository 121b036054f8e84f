import { createKeccak } from 'hash-wasm'
import { protocolError } from '../errors.ts'
import { nodeIdFromBytes, nodeIdToBytes } from '../ids/node-id.ts'
import type { Crypto } from '../ports.ts'
import type { CurveBackend } from './backend.ts'
import { KnownKeys } from './known-keys.ts'

/** WebAssembly, or JavaScript where that is refused, as a page's content security policy may. */
async function loadKeccak256(): Promise<Crypto['keccak256']> {
  const hasher = await createKeccak(256).catch(() => undefined)
  if (hasher === undefined) return (await import('./js-keccak.ts')).jsKeccak256
  return (...parts) => {
    hasher.init()
    for (const part of parts) hasher.update(part)
    return hasher.digest('binary')
  }
}

/** Cryptography with a curve of some library. Once made it is synchronous. */
export async function createCrypto(curve: CurveBackend): Promise<Crypto> {
  const keccak256 = await loadKeccak256()
  const toAddress = (publicKey: Uint8Array): Uint8Array => keccak256(publicKey.subarray(1)).slice(12)
  const { prepareCheck } = curve
  const known = prepareCheck && new KnownKeys(prepareCheck)
  return {
    backend: curve.name,
    keccak256,
    sign: (digest, privateKey) => curve.sign(digest, privateKey),
    recover(digest, signature, expected) {
      if (digest.length !== 32 || !isCanonicalSignature(signature)) return undefined
      try {
        if (expected !== undefined && known?.confirms(expected, digest, signature))
          return nodeIdToBytes(expected)
        const publicKey = curve.recover(digest, signature)
        if (publicKey === undefined) return undefined
        const address = toAddress(publicKey)
        known?.recovered(nodeIdFromBytes(address), publicKey)
        return address
      } catch {
        return undefined
      }
    },
    addressOf(privateKey) {
      let publicKey: Uint8Array
      try {
        publicKey = curve.publicKeyOf(privateKey)
      } catch {
        // Without the cause: a library's message could quote the key.
        throw protocolError('INVALID_KEY')
      }
      return toAddress(publicKey)
    },
  }
}

/** Half the order of secp256k1, rounded down: s above it is the second form of the same signature (BIP 62, EIP-2). */
const halfOrder = Uint8Array.from([
  0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57,
  0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
])

function isCanonicalSignature(signature: Uint8Array): boolean {
  if (signature.length !== 65 || (signature[64] as number) > 1) return false
  for (let i = 0; i < 32; i++) {
    const difference = (signature[32 + i] as number) - (halfOrder[i] as number)
    if (difference !== 0) return difference < 0
  }
  return true
}
