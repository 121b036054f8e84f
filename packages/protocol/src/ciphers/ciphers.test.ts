import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hkdfSha256 } from '../encryption/derive-key.ts'
import type { Aead } from './ciphers.ts'
import { nodeCiphers } from './node-ciphers.ts'
import { pageCiphers } from './page-ciphers.ts'

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(/\s/g, ''), 'hex'))

const aeadsOf = (key: Uint8Array) =>
  [nodeCiphers, pageCiphers].map((ciphers) => ciphers.aead('chacha20-poly1305', key)) as [Aead, Aead]

it('the ciphers of Node and of pages are the same', () => {
  const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
  const some = fc.uint8Array({ maxLength: 300 })
  fc.assert(
    fc.property(bytes(32), bytes(12), some, some, fc.nat(), (key, nonce, plaintext, associated, at) => {
      const [inNode, inPages] = aeadsOf(key)
      const sealed = inNode.seal(nonce, plaintext, associated)
      expect(inPages.seal(nonce, plaintext, associated)).toEqual(sealed)
      expect(inPages.open(nonce, sealed, associated)).toEqual(plaintext)
      const changed = sealed.map((byte, i) => (i === at % sealed.length ? byte ^ 1 : byte))
      expect(inPages.open(nonce, changed, associated)).toBeUndefined()
    }),
  )
})

describe.each([
  ['Node', nodeCiphers],
  ['pages', pageCiphers],
])('the ciphers of %s', (_, ciphers) => {
  it('hash as FIPS 180-2 says, in parts too', () => {
    const hash = hex('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(ciphers.sha256(Buffer.from('abc'))).toEqual(hash)
    expect(ciphers.sha256(Buffer.from('a'), Buffer.from('bc'))).toEqual(hash)
  })

  it('authenticate as RFC 4231 says, test case 2', () => {
    expect(ciphers.hmacSha256(Buffer.from('Jefe'), Buffer.from('what do ya want for nothing?'))).toEqual(
      hex('5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'),
    )
  })

  it('derive as RFC 5869 says, test case 1', () => {
    const key = hkdfSha256(
      ciphers,
      new Uint8Array(22).fill(0x0b),
      hex('000102030405060708090a0b0c'),
      hex('f0f1f2f3f4f5f6f7f8f9'),
    )
    expect(key).toEqual(hex('3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf'))
  })

  it('seal as RFC 8439 says, section 2.8.2', () => {
    const plaintext = Buffer.from(
      "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.",
    )
    const key = Uint8Array.from({ length: 32 }, (_unused, i) => 0x80 + i)
    const aead = ciphers.aead('chacha20-poly1305', key)
    const [nonce, associated] = [hex('070000004041424344454647'), hex('50515253c0c1c2c3c4c5c6c7')]
    const sealed = aead.seal(nonce, plaintext, associated)
    expect(sealed.subarray(0, 16)).toEqual(hex('d31a8d34648e60db7b86afbc53ef7ec2'))
    expect(sealed.subarray(-16)).toEqual(hex('1ae10b594f09e26a7e902ecbd0600691'))
    const { ciphertext, tag } = aead.sealApart(nonce, plaintext, associated)
    expect(Uint8Array.of(...ciphertext, ...tag)).toEqual(sealed)
    expect(Buffer.from(aead.open(nonce, sealed, associated) ?? [])).toEqual(plaintext)
    expect(aead.open(nonce, sealed, hex('50'))).toBeUndefined()
    expect(aead.open(nonce, sealed.subarray(1), associated)).toBeUndefined()
    expect(aead.open(nonce, sealed.subarray(0, 15), associated)).toBeUndefined()
  })
})
