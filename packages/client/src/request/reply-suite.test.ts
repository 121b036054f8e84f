import { readFileSync } from 'node:fs'
import { loadX25519, toNodeId } from '@runnel/protocol'
import { KEM_DHKEM_X25519_HKDF_SHA256 } from '@panva/hpke-noble'
import { CipherSuite } from 'hpke'
import { describe, expect, it } from 'vitest'
import { chaCha20Poly1305, hkdfSha256 } from '../encryption/hpke-symmetric.ts'
import { replyInfo } from './reply-message.ts'
import { newReplyKeys, newReplySealer, replySuite } from './reply-suite.ts'

const standards = JSON.parse(
  readFileSync(new URL('../../../protocol/vectors/standards.json', import.meta.url), 'utf8'),
) as { readonly hpkeX25519: Readonly<Record<string, string>> }
const x25519 = await loadX25519()
const hex = (text = ''): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
const suites = {
  other: () => new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, hkdfSha256, chaCha20Poly1305),
  here: () => replySuite(x25519),
}
const [info, plaintext] = [Buffer.from('what for'), Buffer.from('a reply')]

describe.each(Object.entries(suites))('HPKE with X25519 (%s)', (_, made) => {
  it('opens what others sealed', async () => {
    const suite = made()
    const { publicKey, privateKey } = await suite.GenerateKeyPair()
    const bytes = await suite.SerializePublicKey(publicKey)
    for (const other of Object.values(suites)) {
      const from = other()
      const to = await from.DeserializePublicKey(bytes)
      const { encapsulatedSecret, ciphertext } = await from.Seal(to, plaintext, { info })
      const opened = await suite.Open({ publicKey, privateKey }, encapsulatedSecret, ciphertext, { info })
      expect(Buffer.from(opened)).toEqual(plaintext)
    }
  })
})

it('opens what RFC 9180 sealed', async () => {
  const vector = standards.hpkeX25519
  const suite = replySuite(x25519)
  const key = await suite.DeserializePrivateKey(hex(vector['privateKeyHex']))
  const opened = await suite.Open(key, hex(vector['encapsulatedHex']), hex(vector['sealedHex']), {
    info: hex(vector['infoHex']),
    aad: hex(vector['associatedHex']),
  })
  expect(opened).toEqual(hex(vector['plaintextHex']))
})

describe('replies', () => {
  const responderId = toNodeId(`0x${'a'.repeat(40)}`)
  const from = { responderId, streamId: 'stream' }
  const [requestId, other] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)]
  const plaintext = Uint8Array.of(1, 2, 3)
  const info = replyInfo(responderId, from.streamId)

  async function agreed() {
    const keys = await newReplyKeys()
    return { keys, sealer: (await newReplySealer(keys.publicKey, info)) ?? expect.fail() }
  }

  it('open in any order, and several of one request too, each under a number of its own', async () => {
    const { keys, sealer } = await agreed()
    const replies = [requestId, other, requestId].map((id) => sealer.seal(id, plaintext) ?? expect.fail())
    expect(replies.map(({ number }) => number)).toEqual([0, 1, 2])
    expect(new Set(replies.map(({ sealed }) => Buffer.from(sealed).toString('hex'))).size).toBe(3)
    const ids = [requestId, other, requestId]
    for (const i of [2, 0, 1]) {
      const opened = await keys.open(ids[i] ?? requestId, from, replies[i] ?? expect.fail())
      expect(Buffer.from(opened ?? [])).toEqual(Buffer.from(plaintext))
    }
  })

  it('are nothing for what is no key, and for another request, responder, stream or asker, or when changed', async () => {
    expect(await newReplySealer(new Uint8Array(32), info)).toBeUndefined()
    expect(await newReplySealer(new Uint8Array(31).fill(9), info)).toBeUndefined()
    const { keys, sealer } = await agreed()
    const reply = sealer.seal(requestId, plaintext) ?? expect.fail()
    const changed = (bytes: Uint8Array) => bytes.with(0, (bytes[0] ?? 0) ^ 1)
    const somebody = toNodeId(`0x${'b'.repeat(40)}`)
    const { encapsulated, sealed } = reply
    for (const [id, by, one, whose] of [
      [other, from, reply, keys],
      [requestId, { ...from, responderId: somebody }, reply, keys],
      [requestId, { ...from, streamId: 'other' }, reply, keys],
      [requestId, from, reply, await newReplyKeys()],
      [requestId, from, { ...reply, number: 1 }, keys],
      [requestId, from, { ...reply, sealed: changed(sealed) }, keys],
      [requestId, from, { ...reply, sealed: sealed.subarray(0, 15) }, keys],
      [requestId, from, { ...reply, encapsulated: changed(encapsulated) }, keys],
      [requestId, from, { ...reply, encapsulated: new Uint8Array(32) }, keys],
    ] as const)
      expect(await whose.open(id, by, one)).toBeUndefined()
  })
})
