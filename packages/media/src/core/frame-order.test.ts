import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { FrameNumbers } from './frame-numbers.ts'
import { FrameOrder, type PlacedPicture } from './frame-order.ts'

const layers = [0, 2, 1, 2] as const
/** Groups of pictures in three layers, as an encoder makes them. */
function pictures(groups: number, perGroup: number): PlacedPicture[] {
  return Array.from({ length: groups }, (_, group) => {
    const numbers = new FrameNumbers()
    return Array.from({ length: perGroup }, (_, i): PlacedPicture => {
      const [isKey, temporalLayer] = [i === 0, layers[i % 4] ?? 0]
      const { object = 0, dependency = 0 } = numbers.number({ isKey, temporalLayer }) ?? {}
      const data = Uint8Array.of(group, i)
      return {
        group,
        object,
        dependency,
        isKey,
        temporalLayer,
        timestampUs: (group * perGroup + i) * 33_000,
        data,
      }
    })
  }).flat()
}

const places = (taken: readonly PlacedPicture[]) => taken.map(({ group, object }) => `${group}/${object}`)

function run(order: FrameOrder, given: readonly PlacedPicture[], stepMs = 33): PlacedPicture[] {
  const taken = given.flatMap((picture, i) => [...order.take(i * stepMs), ...order.push(picture, i * stepMs)])
  return [...taken, ...order.take(given.length * stepMs + 1_000)]
}

describe('the order of pictures', () => {
  it('is that of their publisher, without delay where nothing is missing', () => {
    const order = new FrameOrder()
    const given = pictures(2, 6)
    for (const picture of given) expect(order.push(picture, 0)).toEqual([picture])
    expect(order.counters).toEqual({ decoded: 12, lost: 0, late: 0, undecodable: 0 })
    expect(order.dueMs).toBeUndefined()
  })

  it('begins with the newest group, and wants a key frame until then', () => {
    const order = new FrameOrder()
    const given = pictures(2, 8)
    expect(order.wantsKey).toBe(true)
    for (const picture of given.slice(3, 8)) expect(order.push(picture, 0)).toEqual([])
    expect(order.wantsKey).toBe(true)
    expect(places(order.push(given[8] as PlacedPicture, 0))).toEqual(['1/0'])
    expect(order.wantsKey).toBe(false)
    expect(order.counters.lost).toBe(0)
  })

  it('waits a little for one that was overtaken', () => {
    const order = new FrameOrder()
    const [key, one, two] = pictures(1, 3) as [PlacedPicture, PlacedPicture, PlacedPicture]
    order.push(key, 0)
    expect(order.push(two, 10)).toEqual([])
    expect(order.dueMs).toBe(50)
    expect(order.push(one, 20)).toEqual([one, two])
  })

  it('waits for longer where what came builds on it, and goes on once it is there', () => {
    const order = new FrameOrder()
    const given = pictures(1, 9)
    for (const picture of given.slice(0, 4)) order.push(picture, 0)
    for (const picture of given.slice(5, 8)) expect(order.push(picture, 10)).toEqual([])
    expect(order.dueMs).toBe(210)
    expect(order.take(209)).toEqual([])
    expect(places(order.push(given[4] as PlacedPicture, 209))).toEqual(['0/4', '0/5', '0/6', '0/7'])
    expect(order.counters).toEqual({ decoded: 8, lost: 0, late: 0, undecodable: 0 })
  })

  it('goes on without a picture of an upper layer, and without those that build on it', () => {
    const given = pictures(1, 9)
    const withoutLayer = (layer: number) => given.filter(({ temporalLayer }) => temporalLayer !== layer)
    expect(places(run(new FrameOrder(), withoutLayer(2)))).toEqual(['0/0', '0/2', '0/4', '0/6', '0/8'])
    expect(places(run(new FrameOrder(), withoutLayer(1)))).toEqual(['0/0', '0/1', '0/4', '0/5', '0/8'])
  })

  it('wants a key frame when the lowest layer is broken, and goes on with it', () => {
    const order = new FrameOrder()
    const given = pictures(2, 12)
    const taken = run(order, given.filter(({ group, object }) => group === 1 || object !== 4).slice(0, 11))
    expect(places(taken)).toEqual(['0/0', '0/1', '0/2', '0/3'])
    expect(order.wantsKey).toBe(true)
    expect(places(order.push(given[12] as PlacedPicture, 2_000))).toEqual(['1/0'])
    expect(order.wantsKey).toBe(false)
  })

  it('takes a group whose key frame is the last of it to come', () => {
    const order = new FrameOrder()
    const [key, ...others] = pictures(1, 5)
    for (const picture of others) expect(order.push(picture, 0)).toEqual([])
    expect(places(order.push(key as PlacedPicture, 20))).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4'])
  })

  it('gives a decoder only what builds on what it has, whatever is lost, doubled and overtaken', () => {
    const given = pictures(4, 20)
    const arrivals = fc
      .array(fc.record({ index: fc.nat(given.length - 1), swap: fc.nat(6) }), { maxLength: 200 })
      .map((moves) =>
        moves.map(({ index, swap }) => Math.min(given.length - 1, index + swap)).sort((a, b) => a - b),
      )
    fc.assert(
      fc.property(arrivals, fc.infiniteStream(fc.nat(7)), (indices, jitter) => {
        const shuffled = indices
          .map((index, i) => ({ index, at: i + (jitter.next().value as number) }))
          .sort((a, b) => a.at - b.at)
        const taken = run(
          new FrameOrder(),
          shuffled.map(({ index }) => given[index] as PlacedPicture),
        )
        const seen = new Set<string>()
        let last = -1
        for (const { group, object, dependency, isKey } of taken) {
          expect(group * 1_000 + object).toBeGreaterThan(last)
          last = group * 1_000 + object
          if (!isKey) expect(seen.has(`${group}/${object - dependency}`)).toBe(true)
          seen.add(`${group}/${object}`)
        }
      }),
    )
  })

  it('keeps no more than its limit of a group whose beginning is missing', () => {
    const order = new FrameOrder()
    const [key, ...others] = pictures(1, 2 * mediaLimits.maxWaitingFrames)
    for (const picture of others) order.push(picture, 0)
    expect(order.push(key as PlacedPicture, 0)).toHaveLength(mediaLimits.maxWaitingFrames + 1)
  })
})
