import { describe, expect, it } from 'vitest'
import { idOf } from '../core.testkit.ts'
import { AnnouncedBatches } from './announced-batches.ts'
import { Lateness } from '../lateness.ts'
import { Pace } from './pace.ts'

const place = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })

describe('the pace of a chain', () => {
  /** After how many batches at a rate it is fast; undefined for never. */
  const fastAfter = (perS: number): number | undefined => {
    const pace = new Pace(4)
    for (let i = 1; i <= 200; i++) if (pace.add((i * 1000) / perS)) return i
    return undefined
  }
  it('is fast from a rate on, after a few batches', () => {
    expect([2, 3].map(fastAfter)).toEqual([undefined, undefined])
    expect(fastAfter(10)).toBeLessThan(10)
    expect(fastAfter(1000)).toBeLessThan(10)
  })
  it('is not fast any more after a pause', () => {
    const pace = new Pace(4)
    for (let i = 0; i < 50; i++) pace.add(i * 100)
    expect([pace.isFast(5_000), pace.isFast(8_000)]).toEqual([true, false])
  })
})

describe('lateness', () => {
  it('is unknown at first, and then what is rarely exceeded', () => {
    const lateness = new Lateness()
    expect(lateness.boundMs).toBeUndefined()
    for (let i = 0; i < 100; i++) lateness.add(i % 2 === 0 ? 40 : 60)
    expect(lateness.boundMs).toBeGreaterThan(60)
    expect(lateness.boundMs).toBeLessThan(110)
  })
})

describe('announced batches', () => {
  const real = 7
  const check = () => real
  const say = (batches: AnnouncedBatches, at: number, peer: number, of = real) =>
    batches.add(place(at), { peerId: idOf(peer), check: of }, { nowMs: at, dueMs: at + 25 })

  it('are known by who has them, until they come', () => {
    const batches = new AnnouncedBatches(8)
    for (const peer of [2, 3, 2]) say(batches, 5, peer)
    expect(batches.due(29)).toEqual([])
    expect([batches.due(30), batches.due(30)]).toMatchObject([[{ peerIds: [idOf(2), idOf(3)] }], []])
    expect(batches.take(place(5), check).announced).toEqual({ sinceMs: 5, peerIds: [idOf(2), idOf(3)] })
    expect([batches.take(place(5), check).announced, batches.dueMs]).toEqual([undefined, Infinity])
  })

  it('are not those of who named another batch, or guessed the place', () => {
    const batches = new AnnouncedBatches(8)
    say(batches, 1, 2, 99)
    batches.add(place(1), { peerId: idOf(3), check: real }, { nowMs: 30, dueMs: 40 })
    const { announced, others } = batches.take(place(1), check)
    expect([announced, others]).toEqual([{ sinceMs: 30, peerIds: [idOf(3)] }, [idOf(2)]])
    say(batches, 2, 2, 99)
    expect(batches.take(place(2), check).announced).toBeUndefined()
  })

  it('are fetched from who names them later, too', () => {
    const batches = new AnnouncedBatches(8)
    say(batches, 1, 2, 99)
    expect(batches.due(100).flatMap(({ peerIds }) => peerIds)).toEqual([idOf(2)])
    batches.add(place(1), { peerId: idOf(3), check: real }, { nowMs: 200, dueMs: 225 })
    expect(batches.due(225).flatMap(({ peerIds }) => peerIds)).toEqual([idOf(3)])
  })

  it('are so many, the newest, and none of those who are gone', () => {
    const batches = new AnnouncedBatches(8)
    const kept = Array.from({ length: 20 }, (_, i) => say(batches, i, 2))
    expect(kept.filter((isRoom) => isRoom)).toHaveLength(8)
    expect(batches.dueMs).toBe(12 + 25)
    batches.gone(idOf(2))
    expect(batches.due(1_000).flatMap(({ peerIds }) => peerIds)).toEqual([])
  })

  it('of one neighbour leave room for those of others, and for what several name', () => {
    const batches = new AnnouncedBatches(4)
    for (const peer of [2, 3]) say(batches, 0, peer)
    say(batches, 1, 3)
    for (let i = 10; i < 50; i++) say(batches, i, 2)
    const peersOf = (at: number) => batches.take(place(at), check).announced?.peerIds
    expect([peersOf(0), peersOf(1)]).toEqual([[idOf(2), idOf(3)], [idOf(3)]])
    expect([peersOf(47), peersOf(48), peersOf(49)]).toEqual([undefined, [idOf(2)], [idOf(2)]])
  })
})
