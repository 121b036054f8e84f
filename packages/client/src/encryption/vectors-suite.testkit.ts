import {
  chainCipher,
  createIdentity,
  decodeBatch,
  loadCrypto,
  openBatch,
  parsePrivateKey,
  toHex,
  typedDataDigest,
  type Ciphers,
} from '@runnel/protocol'
import { decodeKeyRecord } from '@runnel/protocol/key-records'
import { describe, expect, it } from 'vitest'
import vectors from '../../../protocol/vectors/encryption.json' with { type: 'json' }
import { cardFingerprint } from './card-fingerprint.ts'
import { cardPublicKeyOf } from './card-key.ts'
import { openSealed } from './hpke.ts'
import { readingKeyOf, readingKeyTypedData } from './reading-key.ts'

const crypto = await loadCrypto()
const of = ({ hex }: { readonly hex: string }): Uint8Array =>
  Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
const cardKeys = new Map(vectors.users.map(({ name, cardPrivateKey }) => [name, of(cardPrivateKey)]))

/** What a user's key gives, and what the vectors of `packages/protocol` open to, is the same on every platform. */
export function describeEncryption(platform: string, ciphers: Ciphers): void {
  describe(`encryption, with the ciphers of ${platform}`, () => {
    it('makes the same reading key and card of a private key for ever', async () => {
      const user = createIdentity(parsePrivateKey('11'.repeat(32)), crypto)
      const claim = { chainId: 137, userId: user.nodeId, generation: 3, block: 0 }
      const signature = user.sign(typedDataDigest(readingKeyTypedData(claim), crypto))
      const readingKey = readingKeyOf(ciphers, signature.subarray(0, 64), user.nodeId, 3)
      const publicKey = await cardPublicKeyOf(ciphers, readingKey)
      expect({
        readingKey: toHex(readingKey),
        publicKey: toHex(crypto.keccak256(publicKey)),
        fingerprint: cardFingerprint(ciphers, { ...claim, publicKey }),
      }).toEqual({
        readingKey: '0x131d0e157c45d868f82b52099b9ee2172affe3a93888837186a3d7865a69befa',
        publicKey: '0xe569adafcb61df0d9ddc5f7282df82df7c92e4a9a7604e2e55728bff0e2fd303',
        fingerprint: 'd5e3 b8a4 ff1d 067a 842d 048f e5ef 6f74',
      })
    })

    it('makes the cards of the vectors', async () => {
      for (const { readingKey, publicKey } of vectors.users)
        expect(toHex(await cardPublicKeyOf(ciphers, of(readingKey)))).toBe(`0x${publicKey.hex}`)
    })

    it('opens the links and answers of the vectors, and nothing that was changed', async () => {
      let opened = 0
      for (const { to, info, plaintext, bytes } of vectors.records) {
        const record = decodeKeyRecord(of(bytes))
        const cardKey = cardKeys.get(to ?? '')
        if ((record.kind !== 'link' && record.kind !== 'answer') || !cardKey || !info || !plaintext) continue
        const text = await openSealed(cardKey, of(info), record.encapsulated, record.sealed)
        expect(text).toEqual(of(plaintext))
        opened++
      }
      expect(opened).toBeGreaterThan(0)
      for (const { privateKey, info, encapsulated, sealed } of vectors.unopenedSeals)
        expect(await openSealed(of(privateKey), of(info), of(encapsulated), of(sealed))).toBeUndefined()
    })

    it('opens the batches of the vectors, and none that was changed', () => {
      for (const { bytes, publisherKey, messages } of vectors.sealedBatches) {
        const batch = decodeBatch(of(bytes))
        const opened = openBatch(batch, chainCipher(ciphers, of(publisherKey), batch.chain))
        expect(opened?.map(({ content }) => toHex(content))).toEqual(
          messages.map(({ content }) => `0x${content.hex}`),
        )
      }
      for (const { bytes, publisherKey } of vectors.unopenedBatches) {
        const batch = decodeBatch(of(bytes))
        expect(openBatch(batch, chainCipher(ciphers, of(publisherKey), batch.chain))).toBeUndefined()
      }
    })
  })
}
