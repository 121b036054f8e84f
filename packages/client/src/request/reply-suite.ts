import { loadX25519, type X25519 } from '@runnel/protocol'
import { CipherSuite, type KeyPair } from 'hpke'
import { undefinedOn } from '../encryption/undefined-on.ts'
import { x25519Kem } from './x25519-kem.ts'
import { chaCha20Poly1305, hkdfSha256 } from '../encryption/hpke-symmetric.ts'

/** What travels of a sealed reply. */
export interface SealedReply {
  /** 32 bytes. */
  readonly encapsulated: Uint8Array
  /** 16 bytes longer than what is sealed. */
  readonly sealed: Uint8Array
}

/** The keys of one request. */
export interface ReplyKeys {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  readonly pair: KeyPair
}

let made: Promise<CipherSuite> | undefined

/** HPKE (RFC 9180) with X25519, HKDF-SHA256 and ChaCha20-Poly1305. */
export function replySuite(x25519: X25519): CipherSuite {
  return new CipherSuite(x25519Kem(x25519, hkdfSha256), hkdfSha256, chaCha20Poly1305)
}

function suite(): Promise<CipherSuite> {
  made ??= loadX25519().then(replySuite)
  return made
}

let next: Promise<ReplyKeys> | undefined

/** Makes the keys of the next request beforehand, so that it need not wait for them. */
export function prepareReplyKeys(): void {
  next ??= madeKeys()
}

/** Keys for one request. */
export function newReplyKeys(): Promise<ReplyKeys> {
  const keys = next ?? madeKeys()
  next = undefined
  return keys
}

async function madeKeys(): Promise<ReplyKeys> {
  const hpke = await suite()
  const pair = await hpke.GenerateKeyPair()
  return { pair, publicKey: await hpke.SerializePublicKey(pair.publicKey) }
}

/** Seals for who asked. `info` is what for: it opens with the same bytes only. Undefined where `publicKey` is none: its asker chose it. */
export async function sealReply(
  publicKey: Uint8Array,
  info: Uint8Array,
  plaintext: Uint8Array,
): Promise<SealedReply | undefined> {
  const hpke = await suite()
  return undefinedOn(['DeserializeError', 'EncapError', 'ValidationError'], async () => {
    const key = await hpke.DeserializePublicKey(publicKey)
    const { encapsulatedSecret, ciphertext } = await hpke.Seal(key, plaintext, { info })
    return { encapsulated: encapsulatedSecret, sealed: ciphertext }
  })
}

/** Undefined when it was sealed for another key or another `info`, or changed since. */
export async function openReply(
  { pair }: ReplyKeys,
  info: Uint8Array,
  { encapsulated, sealed }: SealedReply,
): Promise<Uint8Array | undefined> {
  const hpke = await suite()
  const names = ['DecapError', 'DeserializeError', 'OpenError', 'ValidationError']
  return undefinedOn(names, () => hpke.Open(pair, encapsulated, sealed, { info }))
}
