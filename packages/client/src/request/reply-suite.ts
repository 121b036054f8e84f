import { ciphers, loadX25519, toHex, type Aead, type NodeId, type X25519 } from '@runnel/protocol'
import { CipherSuite, type KeyPair } from 'hpke'
import { LRU } from 'tiny-lru'
import { chaCha20Poly1305, hkdfSha256 } from '../encryption/hpke-symmetric.ts'
import { undefinedOn } from '../encryption/undefined-on.ts'
import { requestLimits } from './limits.ts'
import { replyInfo } from './reply-message.ts'
import { x25519Kem } from './x25519-kem.ts'

/** What travels of a sealed reply. */
export interface SealedReply {
  /** 32 bytes: what asker and responder agreed on. */
  readonly encapsulated: Uint8Array
  /** Of the replies by this responder for these keys, from 0 on. */
  readonly number: number
  /** 16 bytes longer than what is sealed. */
  readonly sealed: Uint8Array
}

const exporterContext = new TextEncoder().encode('runnel reply')
const keyBytes = 32
const lastNumber = 0xffff_ffff

let made: Promise<CipherSuite> | undefined

/** HPKE (RFC 9180) with X25519, HKDF-SHA256 and ChaCha20-Poly1305. */
export function replySuite(x25519: X25519): CipherSuite {
  return new CipherSuite(x25519Kem(x25519, hkdfSha256), hkdfSha256, chaCha20Poly1305)
}

function suite(): Promise<CipherSuite> {
  made ??= loadX25519().then(replySuite)
  return made
}

/** The keys that replies are sealed for, and what was agreed on with each responder: that takes ten times as long as sealing. */
export class ReplyKeys {
  /** 32 bytes. */
  readonly publicKey: Uint8Array
  readonly #pair: KeyPair
  readonly #agreed = new LRU<Promise<Aead | undefined>>(requestLimits.maxAgreed)

  constructor(options: { readonly publicKey: Uint8Array; readonly pair: KeyPair }) {
    this.publicKey = options.publicKey
    this.#pair = options.pair
  }

  /** Undefined when it was sealed for other keys, another request, responder or stream, or changed since. */
  async open(
    requestId: Uint8Array,
    from: { readonly responderId: NodeId; readonly streamId: string },
    { encapsulated, number, sealed }: SealedReply,
  ): Promise<Uint8Array | undefined> {
    const aead = await this.#with(encapsulated, from)
    return aead?.open(nonceOf(number), sealed, requestId)
  }

  #with(encapsulated: Uint8Array, { responderId, streamId }: { responderId: NodeId; streamId: string }) {
    const name = `${toHex(encapsulated)} ${responderId} ${streamId}`
    const known = this.#agreed.get(name)
    if (known !== undefined) return known
    const agreed = agreedBy(this.#pair, encapsulated, replyInfo(responderId, streamId))
    this.#agreed.set(name, agreed)
    return agreed
  }
}

async function agreedBy(pair: KeyPair, encapsulated: Uint8Array, info: Uint8Array) {
  const hpke = await suite()
  return undefinedOn(['DecapError', 'DeserializeError', 'ValidationError'], async () =>
    aeadOf(await hpke.SetupRecipient(pair, encapsulated, { info })),
  )
}

/** New keys of an asker. */
export async function newReplyKeys(): Promise<ReplyKeys> {
  const hpke = await suite()
  const pair = await hpke.GenerateKeyPair()
  return new ReplyKeys({ pair, publicKey: await hpke.SerializePublicKey(pair.publicKey) })
}

/** Seals the replies of one responder for one asker's keys. */
export class ReplySealer {
  readonly #encapsulated: Uint8Array
  readonly #aead: Aead
  #next = 0

  constructor(encapsulated: Uint8Array, aead: Aead) {
    this.#encapsulated = encapsulated
    this.#aead = aead
  }

  /** Undefined where no number is left: none is used twice. */
  seal(requestId: Uint8Array, plaintext: Uint8Array): SealedReply | undefined {
    if (this.#next > lastNumber) return undefined
    const number = this.#next++
    const sealed = this.#aead.seal(nonceOf(number), plaintext, requestId)
    return { encapsulated: this.#encapsulated, number, sealed }
  }
}

/** Agrees on a secret with who asked. Undefined where `publicKey` is none: its asker chose it. */
export async function newReplySealer(
  publicKey: Uint8Array,
  info: Uint8Array,
): Promise<ReplySealer | undefined> {
  const hpke = await suite()
  return undefinedOn(['DeserializeError', 'EncapError', 'ValidationError'], async () => {
    const key = await hpke.DeserializePublicKey(publicKey)
    const { encapsulatedSecret, ctx } = await hpke.SetupSender(key, { info })
    return new ReplySealer(encapsulatedSecret, await aeadOf(ctx))
  })
}

/** By a key that HPKE exports (RFC 9180, section 5.3), as replies come in any order, and its own messages in one only. */
async function aeadOf(context: { Export(context: Uint8Array, length: number): Promise<Uint8Array> }) {
  return ciphers.aead('chacha20-poly1305', await context.Export(exporterContext, keyBytes))
}

/** u64 0 ‖ u32 number. */
function nonceOf(number: number): Uint8Array {
  const nonce = new Uint8Array(12)
  new DataView(nonce.buffer).setUint32(8, number)
  return nonce
}
