import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/encryption.json' with { type: 'json' }
import { nodeCiphers } from '../ciphers/node-ciphers.ts'
import { pageCiphers } from '../ciphers/page-ciphers.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { fromHex, toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import { commitmentOf, publisherKeyOf, wrapKey } from './epoch-keys.ts'
import { openWith } from './hpke.testkit.ts'
import { publisherTag } from './key-chains.ts'
import { decodeKeyRecord, decodeLinkSecret, encodeKeyRecord } from './key-record-codec.ts'
import type { KeyRecord, WrappedFor } from './key-records.ts'
import { chainCipher, openBatch } from './seal-batch.ts'
import { encryptionVectors } from './vectors.testkit.ts'

const of = ({ hex }: { readonly hex: string }): Uint8Array => fromHex(hex)
const [opener, ...others] = vectors.users
const readers = others.slice(0, 3)
const epochKey = of(vectors.epochs[0]?.epochKey ?? expect.fail())
const commitment = commitmentOf(nodeCiphers, epochKey)
const recordsOf = <K extends KeyRecord['kind']>(kind: K) =>
  vectors.records
    .map(({ bytes }) => decodeKeyRecord(of(bytes)))
    .filter((record): record is Extract<KeyRecord, { kind: K }> => record.kind === kind)
/** The link secret of each user, by its tag. */
const secrets = new Map(
  vectors.records.flatMap(({ to, linkSecret }) => {
    const user = others.find(({ name }) => name === to)
    return user && linkSecret ? [[user.tag.hex, of(linkSecret)] as const] : []
  }),
)
const unwrapped = (list: readonly WrappedFor[], use: Parameters<typeof wrapKey>[2], context: Uint8Array) =>
  list.map(({ tag, wrapped }) =>
    wrapKey(nodeCiphers, secrets.get(toHex(tag)) ?? expect.fail(), use, context, wrapped),
  )

describe('the vectors of encryption', () => {
  it('are what the code makes', async () => {
    expect(await encryptionVectors(await loadCrypto())).toEqual(vectors)
  })

  it.each(vectors.records)('have a record that is read as it was written: $name', ({ record, bytes }) => {
    const decoded = decodeKeyRecord(of(bytes))
    expect(toPlainJson(decoded)).toEqual(record)
    expect(encodeKeyRecord(decoded)).toEqual(of(bytes))
  })

  it.each(vectors.refusedRecords)('have bytes that are no record: $name', ({ hex, code }) => {
    expect(() => decodeKeyRecord(fromHex(hex))).toThrow(expect.objectContaining({ code }))
  })

  it('have links and an answer that their readers open', async () => {
    for (const { to, info, plaintext, bytes } of vectors.records) {
      const record = decodeKeyRecord(of(bytes))
      if ((record.kind !== 'link' && record.kind !== 'answer') || !info || !plaintext) continue
      const user = others.find(({ name }) => name === to) ?? expect.fail()
      const opened = await openWith(of(user.cardPrivateKey), of(info), record)
      expect(opened).toEqual(of(plaintext))
      if (record.kind === 'link')
        expect(decodeLinkSecret(of(plaintext))?.epochId).toEqual(commitment.slice(0, 6))
    }
  })

  it.each(vectors.unopenedSeals)('have a seal that does not open: $name', async (seal) => {
    const sealed = { encapsulated: of(seal.encapsulated), sealed: of(seal.sealed) }
    expect(await openWith(of(seal.privateKey), of(seal.info), sealed)).toBeUndefined()
  })

  it('have epochs that each reader, each cohort and the opener unwrap', () => {
    const [direct, inCohorts] = recordsOf('epoch')
    const keys = unwrapped(direct?.readers ?? [], 'wrapped epoch', commitment)
    expect(keys).toEqual(readers.map(() => epochKey))
    const own = wrapKey(
      nodeCiphers,
      of(vectors.keyring),
      'own epoch',
      commitment,
      direct?.own ?? expect.fail(),
    )
    expect(own).toEqual(epochKey)
    const ofCohorts = vectors.records.flatMap(({ bytes, cohortKey, cohortId }) => {
      const record = decodeKeyRecord(of(bytes))
      if (record.kind !== 'cohort' || !cohortKey || !cohortId) return []
      const cohortKeys = unwrapped(record.readers, 'wrapped cohort', of(cohortId))
      expect(cohortKeys).toEqual(record.readers.map(() => of(cohortKey)))
      const entry = inCohorts?.cohorts.find((cohort) => toHex(cohort.cohortId) === cohortId.hex)
      return [
        wrapKey(nodeCiphers, of(cohortKey), 'wrapped epoch', commitment, entry?.wrapped ?? expect.fail()),
      ]
    })
    expect(ofCohorts).toEqual([epochKey, epochKey])
  })

  it('have an epoch that leads to two earlier ones, and keys of publishers', () => {
    const [{ earlier } = expect.fail()] = recordsOf('epoch')
    const keys = earlier.map(({ id, wrapped }) =>
      wrapKey(nodeCiphers, epochKey, 'earlier epoch', id, wrapped),
    )
    expect(keys).toEqual(vectors.epochs.slice(1).map((epoch) => of(epoch.epochKey)))
    const [{ publishers } = expect.fail()] = recordsOf('publishers')
    const publisherKey = vectors.epochs[0]?.publisherKeys[1]?.publisherKey ?? expect.fail()
    const [{ tag, wrapped } = expect.fail()] = publishers
    const { userId, tag: cardTag } = others[3] ?? expect.fail()
    const secret = secrets.get(cardTag.hex) ?? expect.fail()
    const key = wrapKey(nodeCiphers, secret, 'wrapped publisher', commitment, wrapped)
    expect(key).toEqual(of(publisherKey))
    expect(publisherTag(nodeCiphers, toNodeId(userId), key)).toEqual(tag)
  })

  it.each([
    ['Node', nodeCiphers],
    ['pages', pageCiphers],
  ])('have batches that open in %s, and batches that do not', (_, ciphers) => {
    for (const { bytes, messages } of vectors.sealedBatches) {
      const batch = decodeBatch(of(bytes))
      const key = publisherKeyOf(ciphers, epochKey, batch.chain.publisherId)
      const opened = openBatch(batch, chainCipher(ciphers, key, batch.chain))
      const contents = opened?.map(({ contentType, content }) => ({ contentType, content }))
      expect(toPlainJson(contents)).toEqual(messages)
      expect(batch.chain.publisherId).toBe(opener?.userId)
    }
    for (const { bytes, publisherKey } of vectors.unopenedBatches) {
      const batch = decodeBatch(of(bytes))
      expect(openBatch(batch, chainCipher(ciphers, of(publisherKey), batch.chain))).toBeUndefined()
    }
  })
})
