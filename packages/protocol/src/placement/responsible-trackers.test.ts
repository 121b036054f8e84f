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
})
