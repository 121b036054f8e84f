import { joined, type LinkSide, type Sealing } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import { NoiseNN, type KeyPair, type Session } from '../noise/noise-nn.ts'
import type { NoiseSuite } from '../noise/noise-suite.ts'

export interface KeyAgreementOptions {
  readonly side: LinkSide
  /** 32 random bytes. */
  readonly secretKey: Uint8Array
}

/** What the two hellos carry. */
export interface AgreementTerms {
  /** The cipher that the dialler chose. */
  readonly sealing: Sealing
  /** What both have said unencrypted. */
  readonly prologue: Uint8Array
  readonly peerKey: Uint8Array
}

/**
 * How two ends agree on the keys of a link: Noise NN, whose messages travel in pieces. The ephemeral keys are in the hellos,
 * which both send at once; the sealed part of the second message is a frame of its own, with the listener's proof.
 */
export class KeyAgreement {
  readonly #side: LinkSide
  readonly #keyPair: KeyPair
  readonly #suite: NoiseSuite
  #noise: NoiseNN | undefined
  #peerKey: Uint8Array = new Uint8Array(0)
  #session: Session | undefined

  constructor({ side, secretKey }: KeyAgreementOptions, suite: NoiseSuite) {
    this.#side = side
    this.#keyPair = { secretKey, publicKey: suite.publicKey(secretKey) }
    this.#suite = suite
  }

  get publicKey(): Uint8Array {
    return this.#keyPair.publicKey
  }

  /** The keys; undefined before they are agreed on. */
  get session(): Session | undefined {
    return this.#session
  }

  /** Throws HANDSHAKE_FAILED when this side cannot seal with the dialler's choice. */
  begin({ sealing, prologue, peerKey }: AgreementTerms): void {
    const cipher = this.#suite.ciphers.find((one) => one === sealing)
    if (cipher === undefined) throw transportError('HANDSHAKE_FAILED', `no sealing with ${sealing} here`)
    this.#noise = new NoiseNN({ cipher, prologue, keyPair: this.#keyPair }, this.#suite)
    this.#peerKey = peerKey
    if (this.#side === 'dialler') this.#noise.writeFirst()
    else this.#noise.readFirst(peerKey)
  }

  /** The listener's: its proof, sealed. */
  answer(proof: Uint8Array): Uint8Array {
    const { message, session } = this.#begun.writeSecond(proof)
    this.#session = session
    return message.subarray(this.publicKey.length)
  }

  /** A frame that came after the hello; undefined when it is not authentic. */
  open(frame: Uint8Array): Uint8Array | undefined {
    if (this.#session !== undefined) return this.#session.receiving.open(frame)
    const second = this.#begun.readSecond(joined(this.#peerKey, frame))
    this.#session = second?.session
    return second?.payload
  }

  get #begun(): NoiseNN {
    if (this.#noise === undefined) throw transportError('HANDSHAKE_FAILED', 'a sealed frame before a hello')
    return this.#noise
  }
}
