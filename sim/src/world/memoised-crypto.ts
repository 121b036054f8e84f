import type { Crypto } from '@runnel/protocol'

/** Verdicts remembered; when there are more, all are forgotten. */
const maxVerdicts = 50_000

/**
 * Does each recovery of a signer once: in one process every node would do the same again for the same digest and
 * signature, and with the same outcome.
 */
export function memoiseRecovery(crypto: Crypto): Crypto {
  const verdicts = new Map<string, Uint8Array | undefined>()
  return {
    backend: crypto.backend,
    keccak256: (...parts) => crypto.keccak256(...parts),
    sign: (digest, privateKey) => crypto.sign(digest, privateKey),
    addressOf: (privateKey) => crypto.addressOf(privateKey),
    recover(digest, signature) {
      const key = `${latin1(digest)} ${latin1(signature)}`
      if (!verdicts.has(key)) {
        if (verdicts.size >= maxVerdicts) verdicts.clear()
        verdicts.set(key, crypto.recover(digest, signature))
      }
      // A copy, so that no caller can change what others are given.
      return verdicts.get(key)?.slice()
    },
  }
}

function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}
