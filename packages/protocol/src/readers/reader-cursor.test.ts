import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/readers.json' with { type: 'json' }
import { toBase64Url } from '../codec/base64url.ts'
import { ciphers } from '../index.ts'
import { limits } from '../limits.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { StreamId } from '../ids/stream-id.ts'
import { fromHex, toHex } from '../messages/plain-json.testkit.ts'
import { chainTagBytes, chainTagOf, cursorChain, readerIdOf } from './reader-chains.ts'
import { decodeCursor, encodeCursor, type PlaceRange, type ReaderCursor } from './reader-cursor.ts'

const place = fc.record({ timestamp: fc.nat(100_000), sequenceNumber: fc.nat(2 ** 32 - 1) })
/** Ranges from places that are all different, in order. */
const ranges = (floorMs: number) =>
  fc
    .uniqueArray(place, { minLength: 2, maxLength: 8, selector: ({ timestamp }) => timestamp })
    .map((places) => {
      const sorted = places.toSorted((a, b) => a.timestamp - b.timestamp)
      const at = ({ timestamp, sequenceNumber }: PlaceRange['upTo']) => ({
        ...{ timestamp: floorMs + timestamp, sequenceNumber },
      })
      return Array.from({ length: Math.floor(sorted.length / 2) }, (_, i) => ({
        after: at(sorted[2 * i] ?? sorted[0]!),
        upTo: at(sorted[2 * i + 1] ?? sorted[1]!),
      }))
    })
const cursors: fc.Arbitrary<ReaderCursor> = fc.nat(2 ** 40).chain((floorMs) =>
  fc.record({
    generation: fc.nat(),
    floorMs: fc.constant(floorMs),
    chains: fc.uniqueArray(
      fc.record({
        tag: fc.uint8Array({ minLength: chainTagBytes, maxLength: chainTagBytes }).map(toBase64Url),
        ranges: ranges(floorMs),
      }),
      { maxLength: 10, selector: ({ tag }) => tag },
    ),
  }),
)

describe('the cursor of a reader', () => {
  it.each(vectors.cursors)('is as in the vector $name', ({ cursor, hex }) => {
    expect(toHex(encodeCursor(cursor))).toBe(hex)
    const decoded = decodeCursor(fromHex(hex))
    expect(toHex(encodeCursor(decoded))).toBe(hex)
    expect(new Set(decoded.chains)).toEqual(new Set(cursor.chains))
  })

  it.each(vectors.readers)(
    'of $name is in the chains of the vector',
    ({ streamId, name, readerIdHex, chains }) => {
      const readerId = readerIdOf(ciphers, streamId as StreamId, name)
      expect(toHex(readerId)).toBe(readerIdHex)
      expect([0, 15].map((slot) => cursorChain(readerId, slot))).toEqual(chains)
      for (const chain of chains) expect(chain.length).toBeLessThanOrEqual(limits.maxMessageChainIdBytes)
    },
  )

  it.each(vectors.tags)('names chains as in the vector $tag', ({ tag, publisherId, ...chain }) => {
    expect(chainTagOf(ciphers, { ...chain, publisherId: publisherId as NodeId })).toBe(tag)
  })

  it('comes back from its bytes, and has one encoding only', () => {
    fc.assert(
      fc.property(cursors, (cursor) => {
        const bytes = encodeCursor(cursor)
        const decoded = decodeCursor(bytes)
        expect(new Set(decoded.chains)).toEqual(new Set(cursor.chains))
        expect(encodeCursor(decoded)).toEqual(bytes)
      }),
    )
  })

  it('is refused whatever else the bytes are, by its code', () => {
    fc.assert(
      fc.property(cursors, fc.nat(), fc.integer({ min: 1, max: 255 }), (cursor, at, flip) => {
        const bytes = encodeCursor(cursor)
        bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ flip
        try {
          expect(encodeCursor(decodeCursor(bytes))).toEqual(bytes)
        } catch (error) {
          expect(error).toMatchObject({
            code: expect.stringMatching(/^(MALFORMED_PACKET|LIMIT_EXCEEDED)$/) as string,
          })
        }
      }),
    )
  })

  it('has a bound', () => {
    const { maxCursorRanges } = limits
    const tagOf = (i: number) =>
      toBase64Url(Uint8Array.from({ length: 12 }, (_, byte) => (byte === 11 ? i : byte === 10 ? i >> 8 : 0)))
    const chain = (i: number) => ({
      tag: tagOf(i),
      ranges: [
        { after: { timestamp: 5, sequenceNumber: 0 }, upTo: { timestamp: 600_000, sequenceNumber: 0 } },
      ],
    })
    const full = {
      generation: 1,
      floorMs: 0,
      chains: Array.from({ length: maxCursorRanges }, (_, i) => chain(i)),
    }
    expect(encodeCursor(full).length).toBeLessThan(200_000)
    expect(decodeCursor(encodeCursor(full)).chains).toHaveLength(maxCursorRanges)
    const tooMany = { ...full, chains: [...full.chains, chain(maxCursorRanges)] }
    expect(() => encodeCursor(tooMany)).toThrow(expect.objectContaining({ code: 'LIMIT_EXCEEDED' }))
  })
})
