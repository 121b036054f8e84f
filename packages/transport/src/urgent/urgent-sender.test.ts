import type { UrgentMessage } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { urgentLimits } from './limits.ts'
import { UrgentSender } from './urgent-sender.ts'

/** A sender with a message under way of which nothing is heard. */
function setUp() {
  const clock = new VirtualClock()
  const handed: Uint8Array[] = []
  const sender = new UrgentSender(urgentLimits, {
    ...{ clock, rttMs: () => 20, lane: () => undefined, bufferedBytes: () => 0 },
    hand: (frame) => handed.push(frame),
    ...{ dropped: () => expect.fail('nothing is late'), repeated: () => {} },
  })
  const send = (change: Partial<UrgentMessage> = {}): number => {
    sender.push({
      ...{ batchBytes: new Uint8Array(100), headerBytes: 0, publisher: 'p', chain: 'c' },
      ...{ deadlineMs: 5_000, priority: 9, group: 0, object: 0, order: 'oldest' },
      ...change,
    })
    sender.flush()
    return handed.length
  }
  send()
  return { clock, sender, send }
}

describe('UrgentSender', () => {
  it('gives up what is under way when nothing was heard for long', () => {
    const { clock, sender } = setUp()
    clock.advanceBy(sender.starvedDueMs)
    sender.starved()
    expect([sender.rate.kbitPerS, sender.starvedDueMs]).toEqual([urgentLimits.firstKbitPerS / 2, Infinity])
  })

  it('waits once more where its process was held up, as what the peer told has not been taken then', () => {
    const { clock, sender } = setUp()
    clock.advanceBy(sender.starvedDueMs + 500)
    sender.starved()
    expect(sender.rate.kbitPerS).toBe(urgentLimits.firstKbitPerS)
    clock.advanceBy(2_000)
    sender.starved()
    expect(sender.rate.kbitPerS).toBe(urgentLimits.firstKbitPerS / 2)
  })

  it('lets a small message of priority 0 go at once, one a second', () => {
    const { clock, send } = setUp()
    const batchBytes = new Uint8Array(1_000)
    const picture = send({ batchBytes: new Uint8Array(12_000), chain: 'pictures' })
    expect(send({ batchBytes })).toBe(picture)
    expect(send({ batchBytes, chain: 'small', priority: 0 })).toBe(picture + 1)
    expect(send({ batchBytes, chain: 'small', group: 1, priority: 0 })).toBe(picture + 1)
    clock.advanceBy(1_000)
    const before = send({ batchBytes: new Uint8Array(12_000), chain: 'pictures', group: 1 })
    expect(send({ batchBytes, chain: 'other', group: 2, priority: 0 })).toBeGreaterThan(before)
  })

  it('lets a larger one of priority 0 wait', () => {
    const { send } = setUp()
    const picture = send({ batchBytes: new Uint8Array(12_000), chain: 'pictures' })
    expect(send({ batchBytes: new Uint8Array(1_300), chain: 'large', priority: 0 })).toBe(picture)
  })
})
