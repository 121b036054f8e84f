import { CipherState } from './cipher-state.ts'
import { joined, type Cipher } from '@runnel/protocol'
import type { NoiseSuite } from './noise-suite.ts'

const keyBytes = 32
const nothing: Uint8Array = new Uint8Array(0)
/** Noise, section 8. */
const protocolNames: Readonly<Record<Cipher, string>> = {
  'aes-256-gcm': 'Noise_NN_25519_AESGCM_SHA256',
  'chacha20-poly1305': 'Noise_NN_25519_ChaChaPoly_SHA256',
}

export interface NoiseOptions {
  readonly cipher: Cipher
  /** Data that both ends must know to be the same. */
  readonly prologue: Uint8Array
  /** The ephemeral key, for this handshake only. */
  readonly keyPair: KeyPair
}

/** X25519 keys, 32 bytes each. */
export interface KeyPair {
  readonly secretKey: Uint8Array
  readonly publicKey: Uint8Array
}

/** The two directions of a link. */
export interface Session {
  readonly sending: CipherState
  readonly receiving: CipherState
}

/**
 * The handshake pattern NN of the Noise Protocol Framework (noiseprotocol.org, revision 34): e, then e and ee. It agrees on
 * keys with whoever is there; the payloads must prove who that is. Names are those of the specification.
 */
export class NoiseNN {
  readonly #cipher: Cipher
  readonly #keyPair: KeyPair
  readonly #suite: NoiseSuite
  #h: Uint8Array
  #ck: Uint8Array
  #remoteKey: Uint8Array = nothing

  constructor({ cipher, prologue, keyPair }: NoiseOptions, suite: NoiseSuite) {
    this.#cipher = cipher
    this.#keyPair = keyPair
    this.#suite = suite
    this.#h = initialHash(protocolNames[cipher], suite)
    this.#ck = this.#h
    this.#mixHash(prologue)
  }

  /** What both ends have seen so far, as a hash. */
  get handshakeHash(): Uint8Array {
    return this.#h
  }

  /** The initiator's: → e. The payload is not encrypted. */
  writeFirst(payload: Uint8Array = nothing): Uint8Array {
    const { publicKey } = this.#keyPair
    this.#mixHash(publicKey)
    this.#mixHash(payload)
    return joined(publicKey, payload)
  }

  /** The responder's; returns the payload. */
  readFirst(message: Uint8Array): Uint8Array {
    this.#takeKey(message)
    const payload = message.subarray(keyBytes)
    this.#mixHash(payload)
    return payload
  }

  /** The responder's: ← e, ee. */
  writeSecond(payload: Uint8Array): { readonly message: Uint8Array; readonly session: Session } {
    const { publicKey } = this.#keyPair
    this.#mixHash(publicKey)
    const sealed = this.#mixKey().seal(payload, this.#h)
    this.#mixHash(sealed)
    const [fromInitiator, fromResponder] = this.#split()
    return {
      message: joined(publicKey, sealed),
      session: { sending: fromResponder, receiving: fromInitiator },
    }
  }

  /** The initiator's: reads ← e, ee; undefined when it is not authentic. */
  readSecond(message: Uint8Array): { readonly payload: Uint8Array; readonly session: Session } | undefined {
    this.#takeKey(message)
    const sealed = message.subarray(keyBytes)
    const payload = this.#mixKey().open(sealed, this.#h)
    if (payload === undefined) return undefined
    this.#mixHash(sealed)
    const [fromInitiator, fromResponder] = this.#split()
    return { payload, session: { sending: fromInitiator, receiving: fromResponder } }
  }

  #takeKey(message: Uint8Array): void {
    this.#remoteKey = message.slice(0, keyBytes)
    this.#mixHash(this.#remoteKey)
  }

  #mixHash(data: Uint8Array): void {
    this.#h = this.#suite.sha256(this.#h, data)
  }

  /** The token ee. */
  #mixKey(): CipherState {
    const [ck, key] = this.#hkdf(this.#suite.sharedSecret(this.#keyPair.secretKey, this.#remoteKey))
    this.#ck = ck
    return new CipherState({ cipher: this.#cipher, key }, this.#suite)
  }

  #split(): [CipherState, CipherState] {
    const [first, second] = this.#hkdf(nothing)
    const state = (key: Uint8Array) => new CipherState({ cipher: this.#cipher, key }, this.#suite)
    return [state(first), state(second)]
  }

  #hkdf(input: Uint8Array): [Uint8Array, Uint8Array] {
    const key = this.#suite.hmacSha256(this.#ck, input)
    const first = this.#suite.hmacSha256(key, Uint8Array.of(1))
    return [first, this.#suite.hmacSha256(key, joined(first, Uint8Array.of(2)))]
  }
}

/** A name of at most 32 bytes is padded, a longer one hashed. */
function initialHash(name: string, suite: NoiseSuite): Uint8Array {
  const bytes = new TextEncoder().encode(name)
  if (bytes.length > keyBytes) return suite.sha256(bytes, nothing)
  const hash = new Uint8Array(keyBytes)
  hash.set(bytes)
  return hash
}
