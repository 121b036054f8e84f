import {
  createIdentity,
  loadCrypto,
  parsePrivateKey,
  toHex,
  typedDataDigest,
  type Crypto,
  type Identity,
} from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import type { Signer, StatementSigner } from './signer.ts'

/**
 * Makes a signer with the user's key in memory: 64 hexadecimal digits, as `readKeyFile` returns them. Throws
 * INVALID_KEY.
 */
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
      const { crypto, ...identity } = await user(signal)
      return identitySigner(identity, crypto).signTypedData(data, signal)
    },
    async sendTransaction({ digest }, broadcast, signal) {
      const { sign } = await user(signal)
      return broadcast({ signature: toHex(sign(digest)) })
    },
  }
}

/** Has a user whose key is in this process sign statements as others do with a wallet. */
export function identitySigner({ nodeId, sign }: Identity, crypto: Crypto): StatementSigner {
  return {
    isSilent: true,
    address: () => Promise.resolve(nodeId),
    signTypedData: (data) => Promise.resolve(toHex(sign(typedDataDigest(data, crypto)))),
  }
}
