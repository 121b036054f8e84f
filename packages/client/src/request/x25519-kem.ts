import type { X25519, X25519Pair } from '@runnel/protocol'
import { LabeledExpand, LabeledExtract, ValidationError, type KDF, type KEM, type Key } from 'hpke'

interface X25519Key extends Key {
  readonly bytes: Uint8Array
  /** Of a private key. */
  readonly pair?: X25519Pair
}

const algorithm = { name: 'X25519' }
const publicKeyOf = (bytes: Uint8Array): X25519Key => ({
  type: 'public',
  algorithm,
  extractable: true,
  bytes,
})
const privateKeyOf = (pair: X25519Pair): X25519Key => ({
  ...{ type: 'private', algorithm, extractable: false },
  ...{ bytes: pair.publicKey, pair },
})
const ascii = (text: string) => new TextEncoder().encode(text)
const suiteId = Uint8Array.of(...ascii('KEM'), 0x00, 0x20)

/**
 * DHKEM(X25519, HKDF-SHA256) of RFC 9180, section 4.1. Not the library's own: each of its steps is a task of Web Cryptography, and on a busy
 * machine their turns take ten times as long as the work.
 */
export const x25519Kem = (x25519: X25519, hkdf: () => KDF) => (): KEM<X25519Key> => {
  const kdf = hkdf()
  async function sharedSecret(own: X25519Pair, other: Uint8Array, context: readonly Uint8Array[]) {
    const dh = own.agree(other)
    if (dh === undefined) throw new ValidationError('no public key of X25519')
    const key = await LabeledExtract(kdf, suiteId, new Uint8Array(), ascii('eae_prk'), dh)
    const both = Uint8Array.from(context.flatMap((bytes) => [...bytes]))
    return LabeledExpand(kdf, suiteId, key, ascii('shared_secret'), both, 32)
  }
  return {
    ...{ id: 0x0020, type: 'KEM', name: algorithm.name, Nsecret: 32, Nenc: 32, Npk: 32, Nsk: 32 },
    async GenerateKeyPair() {
      const pair = x25519.newPair()
      return { publicKey: publicKeyOf(pair.publicKey), privateKey: privateKeyOf(pair) }
    },
    DeriveKeyPair: async () => {
      throw new Error('keys of requests are random')
    },
    SerializePublicKey: async ({ bytes }) => bytes.slice(),
    DeserializePublicKey: async (bytes) => publicKeyOf(bytes.slice()),
    SerializePrivateKey: async () => {
      throw new Error('keys of requests are not kept')
    },
    DeserializePrivateKey: async (bytes) => privateKeyOf(x25519.pairOf(bytes)),
    async Encap({ bytes }) {
      const pair = x25519.newPair()
      const enc = pair.publicKey
      return { shared_secret: await sharedSecret(pair, bytes, [enc, bytes]), enc }
    },
    async Decap(enc, { pair }) {
      if (pair === undefined) throw new ValidationError('no private key')
      return sharedSecret(pair, enc, [enc, pair.publicKey])
    },
  }
}
