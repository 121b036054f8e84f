import {
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { x25519Bytes, type X25519, type X25519Pair } from './x25519.ts'

/** What comes before the bytes of a key in PKCS #8 and SPKI (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b656e04220420', 'hex')
const spki = Buffer.from('302a300506032b656e032100', 'hex')

function pairWith(privateKey: KeyObject, own: KeyObject): X25519Pair {
  return {
    publicKey: new Uint8Array(own.export({ type: 'spki', format: 'der' })).slice(-x25519Bytes),
    agree(other) {
      if (other.length !== x25519Bytes) return undefined
      const key = Buffer.concat([spki, other])
      try {
        const publicKey = createPublicKey({ key, format: 'der', type: 'spki' })
        return new Uint8Array(diffieHellman({ privateKey, publicKey }))
      } catch {
        return undefined
      }
    },
  }
}

/** Node's own, many times as fast as JavaScript. */
const nodeX25519: X25519 = {
  newPair() {
    const { privateKey, publicKey } = generateKeyPairSync('x25519')
    return pairWith(privateKey, publicKey)
  },
  pairOf(bytes) {
    const key = createPrivateKey({ key: Buffer.concat([pkcs8, bytes]), format: 'der', type: 'pkcs8' })
    return pairWith(key, createPublicKey(key))
  },
}

export const loadX25519 = (): Promise<X25519> => Promise.resolve(nodeX25519)
