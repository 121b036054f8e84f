import type { Clock } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { CipherSuite } from 'hpke'
import { undefinedOn } from './undefined-on.ts'

/** What is sealed for whoever has the private key of `publicKey`. */
export interface SealRequest {
  /** Of X-Wing, 1,216 bytes. */
  readonly publicKey: Uint8Array
  /** What the seal is for: it opens with the same bytes only. */
  readonly info: Uint8Array
  readonly plaintext: Uint8Array
}

/** What travels of a seal. */
export interface Sealed {
  /** HPKE's encapsulated secret, 1,120 bytes. */
  readonly encapsulated: Uint8Array
  /** 16 bytes longer than the plaintext. */
  readonly sealed: Uint8Array
}

/** Up to this many seals are made in JavaScript; for more, Node's own ML-KEM is worth the warning that it prints once. */
export const maxSealsInJavaScript = 32

/**
 * Which implementation of ML-KEM: `noble` in JavaScript, everywhere; `native` of Node 24.7 and later, six times as fast. The rest of a
 * seal is cheaper in JavaScript than by the asynchronous calls of Web Cryptography.
 */
export type KemKind = 'noble' | 'native'

/** HPKE (RFC 9180) with X-Wing (KEM 0x647a of draft-ietf-hpke-pq), HKDF-SHA256 and ChaCha20-Poly1305. Loaded when it is needed. */
export async function hpkeSuite(kind: KemKind): Promise<CipherSuite> {
  const { newSuite } = await (kind === 'native' ? import('./hpke-native.ts') : import('./hpke-noble.ts'))
  return newSuite()
}

/** Seals in HPKE's base mode, without associated data. Undefined where `publicKey` is none: whoever made a card chose its bytes. */
export async function sealTo(
  publicKey: Uint8Array,
  info: Uint8Array,
  plaintext: Uint8Array,
): Promise<Sealed | undefined> {
  return seal(await hpkeSuite('noble'), { publicKey, info, plaintext })
}

/** As `sealTo`, each by itself and in this order; other work is done between them. */
export async function sealToMany(
  requests: readonly SealRequest[],
  clock: Pick<Clock, 'endOfTurn'> = systemClock,
): Promise<readonly (Sealed | undefined)[]> {
  const isNative = requests.length > maxSealsInJavaScript && hasNativeKem()
  const suite = await hpkeSuite(isNative ? 'native' : 'noble')
  const seals: (Sealed | undefined)[] = []
  for (const request of requests) {
    seals.push(await seal(suite, request))
    await new Promise<void>((resolve) => clock.endOfTurn(resolve))
  }
  return seals
}

/** Undefined when it was sealed for another key or another `info`, or changed since. `privateKey` is the seed of X-Wing, 32 bytes. */
export async function openSealed(
  privateKey: Uint8Array,
  info: Uint8Array,
  encapsulated: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array | undefined> {
  const suite = await hpkeSuite('noble')
  const key = await suite.DeserializePrivateKey(privateKey)
  return undefinedOn(notForUs, () => suite.Open(key, encapsulated, sealed, { info }))
}

/** The public key of X-Wing, 1,216 bytes, to a private key: a seed of 32 bytes. */
export async function publicKeyOf(privateKey: Uint8Array): Promise<Uint8Array> {
  return (await import('./hpke-noble.ts')).publicKeyOf(privateKey)
}

/** Whether this platform has what `native` needs. Node warns once that it is experimental. */
export function hasNativeKem(): boolean {
  // It is not in TypeScript's library yet, and a page without TLS has no Web Cryptography.
  const { SubtleCrypto } = globalThis as {
    readonly SubtleCrypto?: { supports?(operation: string, name: string): boolean }
  }
  const needs = { encapsulateBits: 'ML-KEM-768', importKey: 'X25519', digest: 'SHA3-256' }
  return Object.entries(needs).every((need) => SubtleCrypto?.supports?.(...need) === true)
}

async function seal(
  suite: CipherSuite,
  { publicKey, info, plaintext }: SealRequest,
): Promise<Sealed | undefined> {
  return undefinedOn(noKey, async () => {
    const key = await suite.DeserializePublicKey(publicKey)
    const { encapsulatedSecret, ciphertext } = await suite.Seal(key, plaintext, { info })
    return { encapsulated: encapsulatedSecret, sealed: ciphertext }
  })
}

/** Names of the library's errors. */
const noKey = ['DeserializeError', 'EncapError', 'ValidationError']
const notForUs = ['DecapError', 'OpenError', 'ValidationError']
