import { createIdentity, loadCrypto, parsePrivateKey, toHex, typedDataDigest } from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import type { Signer } from './signer.ts'

/** A signer with the user's key in memory: 64 hexadecimal digits, as `readKeyFile` gives them. Throws INVALID_KEY. */
export function keySigner(privateKey: string): Signer {
  const key = parsePrivateKey(privateKey)
  const user = async (signal: AbortSignal | undefined) => {
    throwIfAborted(signal)
    const crypto = await loadCrypto()
    return { crypto, ...createIdentity(key, crypto) }
  }
  return {
    isSilent: true,
    address: async (signal) => (await user(signal)).nodeId,
    async signTypedData(data, signal) {
      const { crypto, sign } = await user(signal)
      return toHex(sign(typedDataDigest(data, crypto)))
    },
    async sendTransaction({ digest }, broadcast, signal) {
      const { sign } = await user(signal)
      return broadcast({ signature: toHex(sign(digest)) })
    },
  }
}
