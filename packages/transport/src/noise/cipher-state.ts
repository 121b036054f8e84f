import type { Aead, Cipher } from '@runnel/protocol'
import type { NoiseSuite } from './noise-suite.ts'

const nothing: Uint8Array = new Uint8Array(0)
const zeros = new Uint8Array(32)
/** 2^64 - 1, which no frame uses: Noise reserves it for REKEY. */
const rekeyNonce = new Uint8Array(12).fill(0xff, 4)
/** Of the frame that is being sealed or opened: one for all links, as an aead has used it when it returns. With its view it takes 0.9 kB. */
const nonce = new Uint8Array(12)
const nonceView = new DataView(nonce.buffer)

/** Frames after which both ends take a new key; far below the usage limits of an AES-GCM key (RFC 8446, section 5.5). */
const defaultRekeyFrames = 2 ** 20

export interface CipherStateOptions {
  readonly cipher: Cipher
  /** 32 bytes. */
  readonly key: Uint8Array
  readonly rekeyFrames?: number
}

/**
 * One direction of a link: a key and a counting nonce, so that a frame that is changed, left out, repeated or reordered does
 * not open. Noise, sections 5.1 and 11.3.
 */
export class CipherState {
  readonly #cipher: Cipher
  readonly #rekeyFrames: number
  readonly #suite: NoiseSuite
  #aead: Aead
  /** The nonce of the next frame. It stays exact for 285 years at a million frames a second. */
  #count = 0

  constructor({ cipher, key, rekeyFrames = defaultRekeyFrames }: CipherStateOptions, suite: NoiseSuite) {
    this.#cipher = cipher
    this.#rekeyFrames = rekeyFrames
    this.#suite = suite
    this.#aead = suite.aead(cipher, key)
  }

  seal(plaintext: Uint8Array, associated = nothing): Uint8Array {
    const sealed = this.#aead.seal(this.#nextNonce(), plaintext, associated)
    this.#advance()
    return sealed
  }

  /** Undefined when it is not the frame that the other end sealed next. */
  open(sealed: Uint8Array, associated = nothing): Uint8Array | undefined {
    const plaintext = this.#aead.open(this.#nextNonce(), sealed, associated)
    if (plaintext !== undefined) this.#advance()
    return plaintext
  }

  /** Noise, section 12: for AESGCM the counter is big endian, for ChaChaPoly little endian, in both after 32 zero bits. */
  #nextNonce(): Uint8Array {
    const [high, low] = [Math.floor(this.#count / 2 ** 32), this.#count >>> 0]
    const isBigEndian = this.#cipher === 'aes-256-gcm'
    nonceView.setUint32(4, isBigEndian ? high : low, !isBigEndian)
    nonceView.setUint32(8, isBigEndian ? low : high, !isBigEndian)
    return nonce
  }

  #advance(): void {
    if (++this.#count % this.#rekeyFrames !== 0) return
    const key = this.#aead.seal(rekeyNonce, zeros, nothing).slice(0, 32)
    this.#aead = this.#suite.aead(this.#cipher, key)
  }
}
