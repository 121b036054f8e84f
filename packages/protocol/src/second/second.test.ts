import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import vectors from '../../vectors/encryption.json' with { type: 'json' }
import { nodeCiphers as ciphers } from '../ciphers/node-ciphers.ts'
import { createIdentity } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { commitmentOf, publisherKeyOf, wrapKey } from '../encryption/epoch-keys.ts'
import { openWith } from '../encryption/hpke.testkit.ts'
import { groupOf, linkChain, readerHint } from '../encryption/key-chains.ts'
import { decodeKeyRecord, decodeLinkSecret } from '../encryption/key-record-codec.ts'
import type { KeyRecord } from '../encryption/key-records.ts'
import { chainCipher, openBatch } from '../encryption/seal-batch.ts'
import { joined } from '../encryption/vectors.testkit.ts'
import { nodeIdToBytes, toNodeId } from '../ids/node-id.ts'
import { keyPartition, toStreamId } from '../ids/stream-id.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { fromHex, toHex, toPlainJson } from '../messages/plain-json.testkit.ts'
import { verifyBatch } from '../signing/batch-signature.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { ensurePython, runSecond } from './python.testkit.ts'

const vectorsFolder = join(import.meta.dirname, '../../vectors')
const crypto = await loadCrypto()
const streamId = toStreamId(vectors.streamId)
const openerId = toNodeId(vectors.openerId)
const of = ({ hex }: { readonly hex: string }): Uint8Array => fromHex(hex)
let python = ''

beforeAll(() => {
  python = ensurePython()
}, 600_000)

describe('the second implementation', () => {
  it('agrees with all vectors', () => {
    const [said] = runSecond(python, ['check', vectorsFolder]) as [{ passed: number; failures: string[] }]
    expect(said.failures).toEqual([])
    expect(said.passed).toBeGreaterThanOrEqual(205)
  })

  it('says what records mean, and why others are none', () => {
    const lines = [
      ...vectors.records.map(({ bytes }) => bytes.hex),
      ...vectors.refusedRecords.map(({ hex }) => hex),
    ]
    const said = runSecond(
      python,
      ['records'],
      lines.filter((line) => line !== ''),
    )
    expect(said.slice(0, vectors.records.length)).toEqual(vectors.records.map(({ record }) => record))
    const codes = vectors.refusedRecords.filter(({ hex }) => hex !== '').map(({ code }) => code)
    expect(said.slice(vectors.records.length)).toEqual(
      codes.map((error): unknown => expect.objectContaining({ error })),
    )
  })

  it.each(vectors.users)('opens as $name what is in a key part and in messages', (user) => {
    const folder = mkdtempSync(join(tmpdir(), 'runnel-second-'))
    try {
      const file = join(folder, 'key')
      writeFileSync(file, user.privateKey.hex)
      // That of reader C comes from no signature.
      const generation = user.generation < 100 ? user.generation : 0
      const args = ['--chain-id', '31337', '--stream', streamId, '--generation', String(generation)]
      const lines = [...keyPartBatches(), ...vectors.sealedBatches.map(({ bytes }) => bytes.hex)]
      const said = runSecond(python, ['open', '--private-key-file', file, ...args], lines)
      const mayRead = ['opener', 'reader A', 'reader B'].includes(user.name)
      const expected = vectors.sealedBatches.map(({ messages }): unknown =>
        expect.objectContaining(mayRead ? { messages } : { error: 'KEY_NOT_FOUND' }),
      )
      expect(said).toEqual(expected)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

/** The records of the vectors as their opener publishes them, except those that another record of the same chain replaces. */
function keyPartBatches(): string[] {
  const opener = createIdentity(of(vectors.users[0]?.privateKey ?? expect.fail()), crypto)
  const first = (chain: string) => vectors.records.findIndex((record) => record.chain === chain)
  const records = vectors.records.filter(({ chain }, i) => first(chain) === i)
  return records.map(({ chain: messageChainId, bytes }, i) => {
    const chain = { streamId, partition: keyPartition, publisherId: openerId, messageChainId }
    const message = {
      ...{ timestamp: 1_750_000_000_000, sequenceNumber: 4_000_000_000 + i, previous: undefined },
      ...{ contentType: 0, encryptionType: 0, groupKeyId: '', content: of(bytes) },
    }
    return toHex(buildBatch({ chain, messages: [message] }, crypto, opener).bytes)
  })
}

interface Made {
  readonly epochKey: { readonly hex: string }
  readonly earlierKey: { readonly hex: string }
  readonly records: readonly { readonly hex: string }[]
  readonly batches: readonly { readonly hex: string }[]
}

describe('what the second implementation made', () => {
  let made: Made
  let records: readonly KeyRecord[]
  const recordOf = <K extends KeyRecord['kind']>(kind: K) =>
    records.find((record): record is Extract<KeyRecord, { kind: K }> => record.kind === kind) ?? expect.fail()

  beforeAll(() => {
    made = runSecond(python, ['make', vectorsFolder])[0] as Made
    records = made.records.map((record) =>
      decodeKeyRecord(signed(record).messages[0]?.content ?? expect.fail()),
    )
  })

  const signed = (bytes: { readonly hex: string }) => {
    const batch = decodeBatch(of(bytes))
    expect(verifyBatch(batch, crypto, openerId)).toBe(true)
    return batch
  }

  it.each(vectors.users.slice(1))('leads $name to the key of the epoch', async (user) => {
    const userId = toNodeId(user.userId)
    const chain = linkChain(ciphers, of(vectors.keyringId), userId)
    const at = made.records.findIndex((record) => signed(record).chain.messageChainId === chain)
    const link = records[at]
    if (link?.kind !== 'link') return expect.fail()
    expect(toHex(link.tag)).toBe(user.tag.hex)
    expect(link.hint).toEqual(readerHint(ciphers, userId))
    const ids = [nodeIdToBytes(openerId), nodeIdToBytes(userId), link.tag]
    const info = joined(Buffer.from('runnel link\0'), ...ids, Buffer.from(chain), Buffer.from(streamId))
    const opened = await openWith(of(user.cardPrivateKey), info, link)
    const { secret } = decodeLinkSecret(opened ?? expect.fail()) ?? expect.fail()
    const epoch = recordOf('epoch')
    const { cohortId, wrapped } =
      epoch.cohorts[groupOf(ciphers, userId, epoch.cohorts.length)] ?? expect.fail()
    const entry = recordOf('cohort').readers.find(({ tag }) => toHex(tag) === user.tag.hex) ?? expect.fail()
    const cohortKey = wrapKey(ciphers, secret, 'wrapped cohort', cohortId, entry.wrapped)
    const key = wrapKey(ciphers, cohortKey, 'wrapped epoch', epoch.commitment, wrapped)
    expect([toHex(key), commitmentOf(ciphers, key)]).toEqual([made.epochKey.hex, epoch.commitment])
  })

  it('leads from the epoch to the one before', () => {
    const [{ id, wrapped } = expect.fail()] = recordOf('epoch').earlier
    const key = wrapKey(ciphers, of(made.epochKey), 'earlier epoch', id, wrapped)
    expect(toHex(key)).toBe(made.earlierKey.hex)
  })

  it('has batches that open to what was sealed', () => {
    expect(made.batches).toHaveLength(vectors.sealedBatches.length)
    for (const [i, bytes] of made.batches.entries()) {
      const batch = signed(bytes)
      const key = publisherKeyOf(ciphers, of(made.epochKey), openerId)
      const opened = openBatch(batch, chainCipher(ciphers, key, batch.chain))
      const contents = opened?.map(({ contentType, content }) => ({ contentType, content }))
      expect(toPlainJson(contents)).toEqual(vectors.sealedBatches[i]?.messages)
    }
  })
})
