import { toNodeId, type UrgentMessage } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { KeptUrgent } from './kept-urgent.ts'

const limits = { maxUrgentKeptMs: 2_000, maxUrgentKeptBytes: 1_000 }
const place = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })
const peer = toNodeId(`0x${'1'.repeat(40)}`)

const message = (publisher: string, bytes: number, deadlineMs = 60_000): UrgentMessage => ({
  ...{
    batchBytes: new Uint8Array(bytes),
    headerBytes: 0,
    deadlineMs,
    publisher,
    chain: `part ${publisher} !c`,
  },
  ...{ priority: 100, group: 0, object: 0, order: 'oldest' },
})

describe('urgent messages that are kept for neighbours', () => {
  it('are found until their time is over, and not for long in any case', () => {
    const kept = new KeptUrgent(limits)
    kept.keep(place(1), message('a', 100, 500), undefined, 0)
    kept.keep(place(2), message('a', 100), undefined, 0)
    const at = (nowMs: number) => [1, 2].map((ms) => kept.find('part a !c', place(ms), nowMs) !== undefined)
    expect([at(499), at(500), at(1_999), at(2_000)]).toEqual([
      [true, true],
      [false, true],
      [false, true],
      [false, false],
    ])
  })

  it('remember to whom they were sent, also when they are kept again', () => {
    const kept = new KeptUrgent(limits)
    kept.keep(place(1), message('a', 100), undefined, 0)
    kept.find('part a !c', place(1), 0)?.sentTo.set(peer, 1)
    kept.keep(place(1), message('a', 100), undefined, 0)
    expect(kept.find('part a !c', place(1), 0)?.sentTo.get(peer)).toBe(1)
    expect(kept.size).toBe(1)
  })

  it('are bounded in bytes, and the publisher with the most makes room', () => {
    const kept = new KeptUrgent(limits)
    kept.keep(place(0), message('b', 100), undefined, 0)
    for (let ms = 1; ms <= 20; ms++) kept.keep(place(ms), message('a', 100), undefined, 0)
    expect(kept.size).toBe(10)
    expect(kept.find('part b !c', place(0), 0)).toBeDefined()
    expect(kept.find('part a !c', place(11), 0)).toBeUndefined()
    expect(kept.find('part a !c', place(12), 0)).toBeDefined()
  })

  it('are forgotten with their chain', () => {
    const kept = new KeptUrgent(limits)
    kept.keep(place(1), message('a', 100), undefined, 0)
    kept.keep(place(1), message('b', 100), undefined, 0)
    kept.sweep(0, (chain) => chain === 'part a !c')
    expect(kept.size).toBe(1)
  })
})
