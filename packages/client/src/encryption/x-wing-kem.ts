import { ml_kem768_x25519 as xWing } from '@noble/post-quantum/hybrid.js'
import type { KEM, Key } from 'hpke'

interface XWingKey extends Key {
  readonly bytes: Uint8Array
}

const algorithm = { name: 'MLKEM768-X25519' }
const keyOf = (type: 'public' | 'private', bytes: Uint8Array): XWingKey => ({
  ...{ type, algorithm, bytes: bytes.slice() },
  extractable: true,
})
const newKeyPair = () => {
  const { publicKey, secretKey } = xWing.keygen()
  return { publicKey: keyOf('public', publicKey), privateKey: keyOf('private', secretKey) }
}

/**
 * X-Wing (draft-connolly-cfrg-xwing-kem; KEM 0x647a of draft-ietf-hpke-pq) for HPKE, in JavaScript. Not that of `@panva/hpke-noble`:
 * it needs an older `@noble/post-quantum`, which brings copies of curves and hashes of its own, 13 kB more for a page.
 */
export const xWingKem = (): KEM<XWingKey> => ({
  ...{ id: 0x647a, type: 'KEM', name: algorithm.name, Nsecret: 32, Nenc: 1120, Npk: 1216, Nsk: 32 },
  GenerateKeyPair: async () => newKeyPair(),
  DeriveKeyPair: async () => {
    throw new Error('a private key of X-Wing is a seed already')
  },
  SerializePublicKey: async ({ bytes }) => bytes.slice(),
  DeserializePublicKey: async (bytes) => keyOf('public', bytes),
  SerializePrivateKey: async ({ bytes }) => bytes.slice(),
  DeserializePrivateKey: async (bytes) => keyOf('private', bytes),
  async Encap({ bytes }) {
    const { sharedSecret, cipherText } = xWing.encapsulate(bytes)
    return { shared_secret: sharedSecret, enc: cipherText }
  },
  Decap: async (encapsulated, { bytes }) => xWing.decapsulate(encapsulated, bytes),
})

/** The public key, 1,216 bytes, to a private key: a seed of 32 bytes. */
export const publicKeyOf = (privateKey: Uint8Array): Uint8Array => xWing.keygen(privateKey).publicKey
