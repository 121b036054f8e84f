import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../vectors/placement.json' with { type: 'json' }
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { toStreamId, toStreamPartId, type StreamPartId } from '../ids/stream-id.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { responsibleTrackers } from './responsible-trackers.ts'

const random = seededRandom('placement')
const nodeIds = (count: number): NodeId[] =>
  Array.from({ length: count }, () => nodeIdFromBytes(random.bytes(20)))
const owner = nodeIds(1)[0] as NodeId
/** Alike but for one number, as real ones often are. */
const streamParts: StreamPartId[] = Array.from({ length: 20_000 }, (_, i) =>
  toStreamPartId(toStreamId(`${owner}/sensors/${Math.floor(i / 100)}`), i % 100),
)
const owners = (trackers: readonly NodeId[]): NodeId[] =>
  streamParts.map((streamPart) => responsibleTrackers(streamPart, trackers)[0] as NodeId)

describe('responsibleTrackers', () => {
  it.each(vectors)('is as in the vector of $streamPartId', ({ streamPartId, trackerIds, inOrder }) => {
    const ids = trackerIds as NodeId[]
    expect(responsibleTrackers(streamPartId as StreamPartId, ids, ids.length)).toEqual(inOrder)
  })

  it('does not look at the order of the trackers, nor at repeated ones', () => {
    const trackers = nodeIds(7)
    fc.assert(
      fc.property(fc.shuffledSubarray(trackers, { minLength: 7 }), fc.nat(19_999), (shuffled, index) => {
        const streamPart = streamParts[index] as StreamPartId
        expect(responsibleTrackers(streamPart, [...shuffled, ...shuffled], 3)).toEqual(
          responsibleTrackers(streamPart, trackers, 3),
        )
      }),
    )
  })

  it('gives at most as many as asked for and as there are', () => {
    const trackers = nodeIds(3)
    const [streamPart] = streamParts as [StreamPartId]
    expect(responsibleTrackers(streamPart, [], 2)).toEqual([])
    expect(responsibleTrackers(streamPart, trackers)).toHaveLength(1)
    expect(responsibleTrackers(streamPart, trackers, 2)).toHaveLength(2)
    expect(responsibleTrackers(streamPart, trackers, 9)).toHaveLength(3)
    expect(new Set(responsibleTrackers(streamPart, trackers, 3)).size).toBe(3)
  })

  it.each([2, 3, 10, 32])(
    'spreads stream parts evenly over %d trackers, first and second places alike',
    (count) => {
      const trackers = nodeIds(count)
      const expected = streamParts.length / count
      const deviation = Math.sqrt(expected * (1 - 1 / count))
      for (const place of [0, 1]) {
        const load = new Map<NodeId, number>(trackers.map((id) => [id, 0]))
        for (const streamPart of streamParts) {
          const id = responsibleTrackers(streamPart, trackers, 2)[place] as NodeId
          load.set(id, (load.get(id) ?? 0) + 1)
        }
        for (const parts of load.values()) expect(Math.abs(parts - expected)).toBeLessThan(5 * deviation)
      }
    },
  )

  it('moves only the stream parts of a tracker that goes', () => {
    const trackers = nodeIds(10)
    const gone = trackers[4] as NodeId
    const before = owners(trackers)
    const after = owners(trackers.filter((id) => id !== gone))
    before.forEach((id, i) => {
      if (id !== gone) expect(after[i]).toBe(id)
    })
    const heirs = new Set(after.filter((_, i) => before[i] === gone))
    expect(heirs.size).toBe(9)
  })

  it('moves stream parts only to a tracker that comes, and about its share of them', () => {
    const trackers = nodeIds(9)
    const [newcomer] = nodeIds(1) as [NodeId]
    const before = owners(trackers)
    const after = owners([...trackers, newcomer])
    const moved = after.filter((id, i) => id !== before[i])
    expect(new Set(moved)).toEqual(new Set([newcomer]))
    expect(Math.abs(moved.length - streamParts.length / 10)).toBeLessThan(5 * Math.sqrt(2000 * 0.9))
  })

  describe.each([1, 2, 3])('with %d responsible for each stream part', (count) => {
    const trackers = nodeIds(10)
    const [newcomer] = nodeIds(1) as [NodeId]
    const placed = (among: readonly NodeId[]): NodeId[][] =>
      streamParts.map((streamPart) => responsibleTrackers(streamPart, among, count))

    it('a tracker that goes hands each of its stream parts to the next in line, and moves no other', () => {
      const gone = trackers[7] as NodeId
      const before = placed(trackers)
      const after = placed(trackers.filter((id) => id !== gone))
      const longer = streamParts.map((streamPart) => responsibleTrackers(streamPart, trackers, count + 1))
      before.forEach((order, i) => {
        const rest = order.includes(gone) ? longer[i]?.filter((id) => id !== gone) : order
        expect(after[i]).toEqual(rest)
      })
      const share = before.filter((order) => order.includes(gone)).length / streamParts.length
      expect(share).toBeCloseTo(count / trackers.length, 1)
      // Whoever was second leads what the one before led.
      before.forEach((order, i) => {
        if (order[0] === gone && count > 1) expect(after[i]?.[0]).toBe(order[1])
      })
    })

    it('a tracker that comes takes its place in line, and moves no other', () => {
      const before = placed(trackers)
      const after = placed([...trackers, newcomer])
      let taken = 0
      before.forEach((order, i) => {
        const now = after[i] ?? []
        if (now.includes(newcomer)) taken++
        expect(now.filter((id) => id !== newcomer)).toEqual(
          order.slice(0, now.includes(newcomer) ? count - 1 : count),
        )
      })
      const expected = (streamParts.length * count) / 11
      const deviation = Math.sqrt(expected * (1 - count / 11))
      expect(Math.abs(taken - expected)).toBeLessThan(5 * deviation)
    })

    it('any change of the trackers moves only what those that came or went hold', () => {
      fc.assert(
        fc.property(
          fc.subarray(trackers, { minLength: 1 }),
          fc.subarray(trackers, { minLength: 1 }),
          fc.nat(19_999),
          (before, after, index) => {
            const streamPart = streamParts[index] as StreamPartId
            const old = responsibleTrackers(streamPart, before, count)
            const now = responsibleTrackers(streamPart, after, count)
            const stays = (id: NodeId): boolean => before.includes(id) && after.includes(id)
            const lost = old.filter((id) => stays(id) && !now.includes(id))
            const came = now.filter((id) => !before.includes(id))
            expect(lost.length).toBeLessThanOrEqual(came.length)
            expect(now.filter((id) => old.includes(id))).toEqual(old.filter((id) => now.includes(id)))
          },
        ),
      )
    })
  })
})
