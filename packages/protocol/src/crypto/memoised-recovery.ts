import { LRU } from 'tiny-lru'
import type { Crypto } from '../ports.ts'

/**
 * The same cryptography, which recovers each signer once: of the last `max` signatures the answers are remembered, right and wrong ones.
 * For what is met again and again, such as the delegation of a peer: on a link, on that link opened again, and in batches.
 */
export function memoisedRecovery(crypto: Crypto, max: number): Crypto {
  const signers = new LRU<{ readonly address: Uint8Array | undefined }>(max)
  return {
    backend: crypto.backend,
    keccak256: (...parts) => crypto.keccak256(...parts),
    sign: (digest, privateKey) => crypto.sign(digest, privateKey),
    addressOf: (privateKey) => crypto.addressOf(privateKey),
    recover(digest, signature, expected) {
      const key = `${text(digest)} ${text(signature)}`
      let signer = signers.get(key)
      if (signer === undefined) {
        signer = { address: crypto.recover(digest, signature, expected) }
        signers.set(key, signer)
      }
      // A copy, so that no caller can change what others are given.
      return signer.address?.slice()
    },
  }
}

/** A character for each byte. What is too long to be a digest or a signature is cut, to a length that neither has. */
function text(bytes: Uint8Array): string {
  // Spreading the bytes takes three times as long.
  return Reflect.apply(String.fromCharCode, undefined, bytes.subarray(0, 66)) as string
}
