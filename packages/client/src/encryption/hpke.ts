import type { CipherSuite } from 'hpke'

let suite: Promise<CipherSuite> | undefined
const load = async (): Promise<CipherSuite> => {
  const [{ CipherSuite }, noble] = await Promise.all([import('hpke'), import('@panva/hpke-noble')])
  return new CipherSuite(noble.KEM_MLKEM768_X25519, noble.KDF_HKDF_SHA256, noble.AEAD_ChaCha20Poly1305)
}
const loaded = (): Promise<CipherSuite> => (suite ??= load())

export interface Sealed {
  readonly encapsulated: Uint8Array
  readonly sealed: Uint8Array
}

export async function sealTo(
  publicKey: Uint8Array,
  info: Uint8Array,
  plaintext: Uint8Array,
): Promise<Sealed> {
  const hpke = await loaded()
  const key = await hpke.DeserializePublicKey(publicKey)
  const { encapsulatedSecret, ciphertext } = await hpke.Seal(key, plaintext, { info })
  return { encapsulated: encapsulatedSecret, sealed: ciphertext }
}

export async function openSealed(
  privateKey: Uint8Array,
  info: Uint8Array,
  encapsulated: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array | undefined> {
  const hpke = await loaded()
  const key = await hpke.DeserializePrivateKey(privateKey, false)
  return hpke.Open(key, encapsulated, sealed, { info }).catch(() => undefined)
}

export async function publicKeyOf(privateKey: Uint8Array): Promise<Uint8Array> {
  const { XWing } = await import('@noble/post-quantum/hybrid.js')
  return XWing.keygen(privateKey).publicKey
}
