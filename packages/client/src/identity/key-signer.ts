import { createIdentity, loadCrypto, parsePrivateKey, toHex, typedDataDigest } from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import type { Signer } from './signer.ts'

/** A signer with the user's key in memory: 64 hexadecimal digits, as `readKeyFile` gives them. Throws INVALID_KEY. */
export function keySigner(privateKey: string): Signer {
  const key = parsePrivateKey(privateKey)
  const identity = async () => {
    const crypto = await loadCrypto()
    return { crypto, identity: createIdentity(key, crypto) }
  }
  return {
    async address(signal) {
      throwIfAborted(signal)
      return (await identity()).identity.nodeId
    },
    async signTypedData(data, signal) {
      throwIfAborted(signal)
      const { crypto, identity: user } = await identity()
      return toHex(user.sign(typedDataDigest(data, crypto)))
    },
    async sendTransaction(transaction, broadcast, signal) {
      throwIfAborted(signal)
      const { signTransaction } = await import('./transactions.ts')
      return broadcast(await signTransaction(transaction, toHex(key)))
    },
  }
}
