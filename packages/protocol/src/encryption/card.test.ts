import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/cards.json' with { type: 'json' }
import { createIdentity, parsePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { pattern, sampleCard, sampleIdentity } from '../messages/samples.testkit.ts'
import {
  cardDigest,
  cardHash,
  cardProblem,
  cardPublicKeyBytes,
  cardToleranceMs,
  cardTypedData,
  decodeCard,
  encodeCard,
  isCardSignedByKey,
  newerCard,
  signCard,
  type CardClaim,
} from './card.ts'

const crypto = await loadCrypto()
const good = sampleCard(crypto)
const { chainId, dateMs } = good

describe('a card', () => {
  it.each(vectors)('is as in the vector "$name"', (vector) => {
    const { publicKeyHex, ...claim } = vector.claim
    const of = { ...claim, userId: toNodeId(claim.userId), publicKey: fromHex(publicKeyHex) }
    expect(cardTypedData(of, crypto)).toEqual(vector.typedData)
    expect(toHex(cardDigest(of, crypto))).toBe(vector.digestHex)
    const bytes = fromHex(vector.hex)
    const read = decodeCard(bytes)
    expect(read).toEqual({ ...of, signature: fromHex(vector.signatureHex) })
    expect(encodeCard(read)).toEqual(bytes)
    expect(toHex(cardHash(read, crypto))).toBe(vector.hashHex)
    const signer = createIdentity(parsePrivateKey(vector.privateKey), crypto)
    expect(isCardSignedByKey(read, crypto)).toBe(signer.nodeId === of.userId)
  })

  it('is signed by nobody else, and not when anything in it was changed', () => {
    const changes: Partial<CardClaim>[] = [
      { chainId: chainId + 1 },
      { userId: sampleIdentity(crypto, 1).nodeId },
      { generation: 1 },
      { dateMs: dateMs - 1 },
      { block: 1 },
      { publicKey: good.publicKey.with(1215, 7) },
    ]
    for (const change of changes) expect(isCardSignedByKey({ ...good, ...change }, crypto)).toBe(false)
    expect(isCardSignedByKey(signCard(good, crypto, sampleIdentity(crypto, 1)), crypto)).toBe(false)
    expect(isCardSignedByKey({ ...good, signature: good.signature.subarray(1) }, crypto)).toBe(false)
    expect(isCardSignedByKey(good, crypto)).toBe(true)
  })

  it('has the same hash whatever its signature, and another one when it says something else', () => {
    const hashOf = (claim: CardClaim) => toHex(cardHash(claim, crypto))
    expect(hashOf({ ...good, signature: pattern(200) } as CardClaim)).toBe(hashOf(good))
    expect(hashOf({ ...good, generation: 1 })).not.toBe(hashOf(good))
  })

  it('has a key of the right length, a generation of 32 bits, and no more signature than a contract needs', () => {
    const malformed = expect.objectContaining({ code: 'MALFORMED_PACKET' })
    expect(() => encodeCard({ ...good, publicKey: pattern(cardPublicKeyBytes - 1) })).toThrow(malformed)
    expect(() => encodeCard({ ...good, generation: 2 ** 32 })).toThrow(malformed)
    expect(() => encodeCard({ ...good, signature: pattern(2049) })).toThrow(
      expect.objectContaining({ code: 'LIMIT_EXCEEDED' }),
    )
  })

  it('is for its chain, and from no later than clocks differ', () => {
    const at = { chainId, wallMs: dateMs }
    expect(cardProblem(good, at)).toBeUndefined()
    expect(cardProblem(good, { ...at, chainId: undefined })).toBeUndefined()
    expect(cardProblem(good, { ...at, chainId: 1 })?.code).toBe('CARD_OTHER_CHAIN')
    expect(cardProblem(good, { ...at, wallMs: dateMs - cardToleranceMs })).toBeUndefined()
    expect(cardProblem(good, { ...at, wallMs: dateMs - cardToleranceMs - 1 })?.code).toBe('CARD_NOT_YET')
  })
})

describe('of two cards', () => {
  it.each<[string, Partial<CardClaim>, Partial<CardClaim>]>([
    [
      'of two generations the later counts, whatever the dates',
      { generation: 2, dateMs: 1 },
      { generation: 1 },
    ],
    ['of one generation the newer counts', { dateMs: dateMs + 1 }, {}],
    ['of one date that with the larger key counts', { publicKey: good.publicKey.with(9, 255) }, {}],
  ])('%s', (_name, newer, older) => {
    const [a, b] = [
      { ...good, ...newer },
      { ...good, ...older },
    ]
    expect(newerCard(a, b)).toBe(a)
    expect(newerCard(b, a)).toBe(a)
  })

  it('that say the same the first counts', () => {
    const again = { ...good, signature: pattern(200) }
    expect(newerCard(good, again)).toBe(good)
    expect(newerCard(again, good)).toBe(again)
  })
})
