import { describe, expect, it } from 'vitest'
import { CipherState } from './cipher-state.ts'
import { NoiseNN, type Session } from './noise-nn.ts'
import { nodeSuite } from './node-suite.ts'
import type { Cipher } from '@runnel/protocol'
import type { NoiseSuite } from './noise-suite.ts'
import vectors from './noise-vectors.json' with { type: 'json' }
import { pageSuite } from './page-suite.ts'

const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'))
const hex = (data: Uint8Array | undefined): string => Buffer.from(data ?? []).toString('hex')

const suites: readonly (readonly [string, NoiseSuite])[] = [
  ['Node', nodeSuite],
  ['a page', pageSuite],
]
const cases = suites.flatMap(([platform, suite]) =>
  vectors
    .map((vector) => ({ platform, suite, vector, cipher: cipherOf(vector.protocol_name) }))
    .filter(({ cipher }) => suite.ciphers.includes(cipher)),
)

function cipherOf(protocolName: string): Cipher {
  return protocolName.includes('AESGCM') ? 'aes-256-gcm' : 'chacha20-poly1305'
}

/** The vectors are those of cacophony, a Haskell implementation, as github.com/mcginty/snow publishes them. */
describe.each(cases)('$vector.protocol_name of $platform', ({ suite, vector, cipher }) => {
  const prologue = bytes(vector.init_prologue)
  const keyPair = (secret: string) => {
    const secretKey = bytes(secret)
    return { secretKey, publicKey: suite.publicKey(secretKey) }
  }
  const initiator = new NoiseNN({ cipher, prologue, keyPair: keyPair(vector.init_ephemeral) }, suite)
  const responder = new NoiseNN({ cipher, prologue, keyPair: keyPair(vector.resp_ephemeral) }, suite)

  it('gives the bytes of the published vectors, and reads them', () => {
    const [first, second, ...rest] = vector.messages.map((message) => ({
      payload: bytes(message.payload),
      ciphertext: bytes(message.ciphertext),
    }))
    if (!first || !second) throw new Error('too few messages')
    expect(hex(initiator.writeFirst(first.payload))).toBe(hex(first.ciphertext))
    expect(hex(responder.readFirst(first.ciphertext))).toBe(hex(first.payload))
    const { message, session: ofResponder } = responder.writeSecond(second.payload)
    expect(hex(message)).toBe(hex(second.ciphertext))
    const answer = initiator.readSecond(second.ciphertext)
    expect(hex(answer?.payload)).toBe(hex(second.payload))
    expect(hex(initiator.handshakeHash)).toBe(vector.handshake_hash)
    expect(hex(responder.handshakeHash)).toBe(vector.handshake_hash)
    rest.forEach(({ payload, ciphertext }, index) => {
      const [from, to] = index % 2 ? [ofResponder, answer?.session] : [answer?.session, ofResponder]
      expect(hex((from as Session).sending.seal(payload))).toBe(hex(ciphertext))
      expect(hex((to as Session).receiving.open(ciphertext))).toBe(hex(payload))
    })
  })
})

describe.each(suites)('the ciphers of %s', (_, suite) => {
  const pair = (options: { rekeyFrames?: number } = {}): [CipherState, CipherState] => {
    const state = () =>
      new CipherState({ cipher: suite.ciphers[0], key: new Uint8Array(32).fill(7), ...options }, suite)
    return [state(), state()]
  }
  const frame = (index: number): Uint8Array => new Uint8Array(index).fill(index)

  it('open frames in their order only, whole, once and unchanged', () => {
    const [sending, receiving] = pair()
    const sealed = [0, 1, 2, 3].map((index) => sending.seal(frame(index)))
    const [zero, one, two] = sealed as [Uint8Array, Uint8Array, Uint8Array]
    expect(receiving.open(one)).toBeUndefined()
    expect(receiving.open(zero)).toHaveLength(0)
    expect(receiving.open(zero)).toBeUndefined()
    for (let bit = 0; bit < 8 * one.length; bit++) {
      const changed = one.slice()
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(receiving.open(changed)).toBeUndefined()
    }
    for (let length = 0; length < one.length; length++) {
      expect(receiving.open(one.subarray(0, length))).toBeUndefined()
    }
    expect(new Uint8Array(receiving.open(one) ?? [])).toEqual(frame(1))
    expect(new Uint8Array(receiving.open(two) ?? [])).toEqual(frame(2))
  })

  it('take new keys together', () => {
    const [sending, receiving] = pair({ rekeyFrames: 3 })
    const [unchanged] = pair()
    for (let index = 0; index < 20; index++) {
      const sealed = sending.seal(frame(index))
      expect(new Uint8Array(receiving.open(sealed) ?? [99])).toEqual(frame(index))
      expect(hex(unchanged.seal(frame(index))) === hex(sealed)).toBe(index < 3)
    }
  })

  it('agree on no key with a point of low order', () => {
    expect(() => suite.sharedSecret(new Uint8Array(32).fill(1), new Uint8Array(32))).toThrow()
  })
})
