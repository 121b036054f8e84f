import { readFileSync } from 'node:fs'
import { loadX25519 } from '@runnel/protocol'
import { KEM_DHKEM_X25519_HKDF_SHA256 } from '@panva/hpke-noble'
import { CipherSuite } from 'hpke'
import { describe, expect, it } from 'vitest'
import { chaCha20Poly1305, hkdfSha256 } from '../encryption/hpke-symmetric.ts'
import { newReplyKeys, openReply, replySuite, sealReply } from './reply-suite.ts'

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

it('seals nothing for what is no key, and opens nothing that was changed', async () => {
  expect(await sealReply(new Uint8Array(32), info, plaintext)).toBeUndefined()
  expect(await sealReply(new Uint8Array(31).fill(9), info, plaintext)).toBeUndefined()
  const keys = await newReplyKeys()
  const reply = (await sealReply(keys.publicKey, info, plaintext)) ?? expect.fail()
  expect(Buffer.from((await openReply(keys, info, reply)) ?? [])).toEqual(plaintext)
  const { encapsulated, sealed } = reply
  const changed = (bytes: Uint8Array) => bytes.with(0, (bytes[0] ?? 0) ^ 1)
  for (const [what, one] of [
    [changed(info), reply],
    [info, { encapsulated, sealed: changed(sealed) }],
    [info, { encapsulated: changed(encapsulated), sealed }],
    [info, { encapsulated: new Uint8Array(32), sealed }],
    [info, { encapsulated, sealed: sealed.subarray(0, 15) }],
  ] as const)
    expect(await openReply(keys, what, one)).toBeUndefined()
})
