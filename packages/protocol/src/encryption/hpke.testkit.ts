import { ml_kem768_x25519 as xWing } from '@noble/post-quantum/hybrid.js'
import { AEAD_ChaCha20Poly1305, KDF_HKDF_SHA256, KEM_MLKEM768_X25519 } from '@panva/hpke-noble'
import { CipherSuite, type KEM } from 'hpke'

export const xwingPublicKey = (privateKey: Uint8Array): Uint8Array => xWing.keygen(privateKey).publicKey

/** A seal of HPKE's base mode that is always the same: `encapsulationSeed` (64 bytes) is what X-Wing would draw. */
export async function sealWith(
  encapsulationSeed: Uint8Array,
  publicKey: Uint8Array,
  info: Uint8Array,
  plaintext: Uint8Array,
) {
  const drawn = KEM_MLKEM768_X25519()
  const given: KEM = {
    ...drawn,
    async Encap(key) {
      const to = await drawn.SerializePublicKey(key)
      const { sharedSecret, cipherText } = xWing.encapsulate(to, encapsulationSeed)
      return { shared_secret: sharedSecret, enc: cipherText }
    },
  }
  const suite = new CipherSuite(() => given, KDF_HKDF_SHA256, AEAD_ChaCha20Poly1305)
  const key = await suite.DeserializePublicKey(publicKey)
  const { encapsulatedSecret, ciphertext } = await suite.Seal(key, plaintext, { info })
  return { encapsulated: encapsulatedSecret, sealed: ciphertext }
}

/** Undefined when it does not open. */
export async function openWith(
  privateKey: Uint8Array,
  info: Uint8Array,
  { encapsulated, sealed }: { readonly encapsulated: Uint8Array; readonly sealed: Uint8Array },
): Promise<Uint8Array | undefined> {
  const suite = new CipherSuite(KEM_MLKEM768_X25519, KDF_HKDF_SHA256, AEAD_ChaCha20Poly1305)
  const key = await suite.DeserializePrivateKey(privateKey)
  return suite.Open(key, encapsulated, sealed, { info }).catch(() => undefined)
}
