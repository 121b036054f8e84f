import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/batches.json' with { type: 'json' }
import { decodePacket, encodePacket } from '../codec/packet-codec.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { keyPartition, toStreamId, type StreamId } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { decodeBatch, type MessageDraft } from './batch-codec.ts'
import { PacketType } from './packet-table.ts'
import { arbitraryAscii, arbitraryNodeId, arbitraryPartition, arbitraryStreamId } from './packets.testkit.ts'
import { fromHex, toHex, toPlainJson } from './plain-json.testkit.ts'
import { sampleDraft, sampleIdentity } from './samples.testkit.ts'
import type { MessageBatch } from './stream-message.ts'

const crypto = await loadCrypto()
const identity = sampleIdentity(crypto)
const chain = {
  streamId: toStreamId(`${identity.nodeId}/a`),
  partition: 0,
  publisherId: identity.nodeId,
  messageChainId: 'chain',
}
const build = (messages: readonly MessageDraft[], changes = {}) =>
  buildBatch({ chain: { ...chain, ...changes }, messages }, crypto, identity)

const malformed = expect.objectContaining({ code: 'MALFORMED_PACKET' })
const tooLarge = expect.objectContaining({ code: 'LIMIT_EXCEEDED' })

const arbitraryExtensions = fc
  .uniqueArray(fc.record({ type: fc.nat(0xffff_ffff), bytes: fc.uint8Array({ maxLength: 60 }) }), {
    selector: ({ type }) => type,
    minLength: 1,
    maxLength: limits.maxExtensions,
  })
  .map((extensions) => extensions.sort((a, b) => a.type - b.type))

describe('decodeBatch', () => {
  it.each(vectors)('reads the vector "$name"', (vector) => {
    const batch = decodeBatch(fromHex(vector.hex))
    expect(batch.chain).toEqual(vector.chain)
    expect(batch.messages.map((message) => toPlainJson(message))).toEqual(
      vector.messages.map((message) => ({ ...vector.chain, ...message })),
    )
    expect(toHex(batch.signature)).toBe(vector.signatureHex)
    expect(toHex(batch.bytes.subarray(0, batch.headerEnd))).toBe(vector.headerHex)
  })

  it.each(vectors)('gives what encodes to the packet of the vector "$name"', (vector) => {
    const body = fromHex(vector.hex)
    expect(toHex(encodePacket(decodePacket(PacketType.data, body)))).toBe(vector.packetHex)
  })

  it('says where the bytes of each message are', () => {
    const batch = build([sampleDraft(0), sampleDraft(1), sampleDraft(2)])
    const { messageOffsets } = decodeBatch(batch.bytes)
    expect(messageOffsets).toHaveLength(6)
    expect(messageOffsets[0]).toBe(batch.headerEnd + 2)
    expect([messageOffsets[2], messageOffsets[4]]).toEqual([messageOffsets[1], messageOffsets[3]])
    expect(messageOffsets[5]).toBe(batch.bytes.length - 66)
  })

  it('makes views of the bytes it was given', () => {
    const { bytes } = build([sampleDraft(0)])
    const decoded = decodeBatch(bytes)
    expect(decoded.bytes.buffer).toBe(bytes.buffer)
    expect(decoded.messages[0]?.content.buffer).toBe(bytes.buffer)
  })

  it('gives batches with the same header the same chain, and others another', () => {
    const first = build([sampleDraft(0)])
    const second = build([sampleDraft(1)])
    expect(decodeBatch(first.bytes.slice()).chain).toBe(decodeBatch(second.bytes.slice()).chain)
    const other = build([sampleDraft(0)], { messageChainId: 'chaim' })
    expect(decodeBatch(other.bytes).chain.messageChainId).toBe('chaim')
    expect(Object.isFrozen(other.chain)).toBe(true)
  })

  it('refuses a batch above its limit of bytes', () => {
    expect(() => decodeBatch(new Uint8Array(limits.maxBatchBytes + 1))).toThrow(tooLarge)
  })
})

describe('the cache of headers', () => {
  it('gives each of more chains than it has places for their own', () => {
    const batches = Array.from({ length: 1000 }, (_, i) =>
      build([sampleDraft(0)], { messageChainId: `c${i}` }),
    )
    for (let round = 0; round < 2; round++) {
      const decoded = batches.map(({ bytes }) => decodeBatch(bytes).chain.messageChainId)
      expect(decoded).toEqual(Array.from({ length: 1000 }, (_, i) => `c${i}`))
    }
  })
})

describe('buildBatch', () => {
  it('gives what decodeBatch reads, for every draft', () => {
    const spanMs = fc.integer({ min: 0, max: limits.maxBatchSpanMs })
    const start = fc.integer({ min: 0, max: 2 ** 48 - 1 - limits.maxBatchSpanMs })
    const u32 = fc.integer({ min: 0, max: 0xffffffff })
    const offsets = fc.uniqueArray(fc.tuple(spanMs, u32), {
      ...{ minLength: 1, maxLength: 8 },
      selector: (place) => place.join(),
    })
    const places = fc
      .tuple(start, offsets)
      .map(([startMs, list]) => list.map(([ms, number]) => [startMs + ms, number] as const))
      .map((list) => list.sort((a, b) => a[0] - b[0] || a[1] - b[1]))
    const rest = fc.record({
      contentType: fc.integer({ min: 0, max: 255 }),
      encryptionType: fc.integer({ min: 0, max: 255 }),
      groupKeyId: arbitraryAscii(limits.maxGroupKeyIdBytes),
      extensions: fc.option(arbitraryExtensions, { nil: undefined }),
      content: fc.uint8Array({ maxLength: 200 }),
    })
    const header = fc.record({
      streamId: arbitraryStreamId,
      partition: arbitraryPartition,
      publisherId: arbitraryNodeId,
      messageChainId: arbitraryAscii(limits.maxMessageChainIdBytes),
    })
    const drafts = places.chain((list) =>
      fc.array(rest, { minLength: list.length, maxLength: list.length }).map((rests) =>
        rests.map((fields, i): MessageDraft => {
          const [timestamp, sequenceNumber] = list[i] as readonly [number, number]
          const before = list[i - 1]
          return {
            ...fields,
            groupKeyId: fields.encryptionType === 0 ? '' : fields.groupKeyId,
            timestamp,
            sequenceNumber,
            previous: before && { timestamp: before[0], sequenceNumber: before[1] },
          }
        }),
      ),
    )
    fc.assert(
      fc.property(header, drafts, (of, messages) => {
        const built = buildBatch({ chain: of, messages }, crypto, identity)
        const decoded = decodeBatch(built.bytes.slice())
        const alone = (batch: MessageBatch) => batch.messages.map((one) => ({ ...one, batch: undefined }))
        expect({ ...decoded, messages: alone(decoded) }).toEqual({ ...built, messages: alone(built) })
        expect(decoded.messages[0]?.batch).toEqual(built.messages[0]?.batch)
        expect(alone(decoded)).toEqual(messages.map((message) => ({ ...of, ...message })))
      }),
      { numRuns: 200 },
    )
  })

  it('gives messages the types and the key id of the one before, or others, also after some that were refused', () => {
    const keyIds = ['k'.repeat(limits.maxGroupKeyIdBytes), '', 'key']
    const run = Array.from({ length: limits.maxBatchMessages }, (_, i) =>
      sampleDraft(i, {
        ...{ encryptionType: 1, groupKeyId: keyIds[Math.floor(i / 5) % 3] ?? '', contentType: i % 2 },
        extensions: i % 7 === 0 ? [{ type: 1, bytes: new Uint8Array(3) }] : undefined,
      }),
    )
    for (let round = 0; round < 2; round++) {
      expect(build(run).messages).toMatchObject(run)
      expect(() => build([sampleDraft(0, { encryptionType: 1, groupKeyId: '\n' })])).toThrow(malformed)
      expect(() => build([sampleDraft(0, { groupKeyId: 'key' })])).toThrow(malformed)
    }
  })

  it('takes the most and the largest, and no more', () => {
    const run = (length: number) => Array.from({ length }, (_, i) => sampleDraft(i))
    expect(build(run(limits.maxBatchMessages)).messages).toHaveLength(256)
    expect(() => build(run(limits.maxBatchMessages + 1))).toThrow(tooLarge)
    const largest = sampleDraft(0, { content: new Uint8Array(limits.maxContentBytes) })
    expect(build([largest]).messages[0]?.content).toHaveLength(limits.maxContentBytes)
    expect(() => build([{ ...largest, content: new Uint8Array(limits.maxContentBytes + 1) }])).toThrow(
      tooLarge,
    )
    expect(() => build([largest, sampleDraft(1, { content: new Uint8Array(64 * 1024) })])).toThrow(tooLarge)
  })

  it('takes messages of a minute or so in one batch, and no longer span of time', () => {
    const start = sampleDraft(0)
    const after = (ms: number) => ({
      ...start,
      timestamp: start.timestamp + ms,
      previous: { timestamp: start.timestamp, sequenceNumber: start.sequenceNumber },
    })
    expect(build([start, after(limits.maxBatchSpanMs)]).messages).toHaveLength(2)
    expect(() => build([start, after(limits.maxBatchSpanMs + 1)])).toThrow(tooLarge)
    // What another implementation may have signed.
    const { bytes, messageOffsets } = build([start, after(limits.maxBatchSpanMs)])
    const forged = bytes.slice()
    const timestampEnd = (messageOffsets[2] ?? 0) + 1 + 6
    forged[timestampEnd - 1] = (forged[timestampEnd - 1] ?? 0) + 1
    expect(() => decodeBatch(forged)).toThrow(tooLarge)
  })

  it.each<[string, readonly MessageDraft[]]>([
    ['no messages', []],
    ['a previous that is the message itself', [sampleDraft(2, { previous: sampleDraft(2) })]],
    ['a previous that is later', [sampleDraft(0, { previous: sampleDraft(1) })]],
    ['a second message without previous', [sampleDraft(0), sampleDraft(1, { previous: undefined })]],
    ['a message left out', [sampleDraft(0), sampleDraft(2)]],
    ['a group key id without encryption', [sampleDraft(0, { groupKeyId: 'key' })]],
    ['no extensions where there should be some', [sampleDraft(0, { extensions: [] })]],
    [
      'an extension twice',
      [sampleDraft(0, { extensions: [1, 1].map((type) => ({ type, bytes: new Uint8Array() })) })],
    ],
    [
      'extensions that are not in order',
      [sampleDraft(0, { extensions: [2, 1].map((type) => ({ type, bytes: new Uint8Array() })) })],
    ],
    ['a content type of more than a byte', [sampleDraft(0, { contentType: 256 })]],
    ['a timestamp that is not whole', [sampleDraft(0, { timestamp: 1.5 })]],
    ['a timestamp of more than 48 bits', [sampleDraft(0, { timestamp: 2 ** 48 })]],
    ['a timestamp below 0', [sampleDraft(0, { timestamp: -1 })]],
    ['a timestamp that is no number', [sampleDraft(0, { timestamp: Number.NaN })]],
    ['a sequence number that is not whole', [sampleDraft(0, { sequenceNumber: 0.5 })]],
    ['a sequence number of more than 32 bits', [sampleDraft(0, { sequenceNumber: 2 ** 32 })]],
  ])('refuses %s', (_, messages) => {
    expect(() => build(messages)).toThrow(malformed)
  })

  it('refuses more extensions than there may be, and more bytes in them', () => {
    const extensions = (count: number, bytes: number) =>
      Array.from({ length: count }, (_, type) => ({ type, bytes: new Uint8Array(bytes) }))
    const { maxExtensions, maxExtensionBytes } = limits
    expect(() => build([sampleDraft(0, { extensions: extensions(maxExtensions, 64) })])).not.toThrow()
    expect(() => build([sampleDraft(0, { extensions: extensions(maxExtensions + 1, 1) })])).toThrow(tooLarge)
    expect(() => build([sampleDraft(0, { extensions: extensions(2, maxExtensionBytes / 2 + 1) })])).toThrow(
      tooLarge,
    )
  })

  it('refuses a stream id, a partition and a chain id that are none', () => {
    expect(() => build([sampleDraft(0)], { streamId: 'news' as StreamId })).toThrow(malformed)
    expect(() => build([sampleDraft(0)], { partition: keyPartition + 1 })).toThrow(malformed)
    expect(() => build([sampleDraft(0)], { messageChainId: 'c'.repeat(33) })).toThrow(tooLarge)
  })
})
