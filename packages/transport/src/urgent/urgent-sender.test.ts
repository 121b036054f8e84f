import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../memory/virtual-clock.ts'
import { urgentLimits } from './limits.ts'
import { UrgentSender } from './urgent-sender.ts'

/** A sender with a message under way of which nothing is heard. */
function setUp() {
  const clock = new VirtualClock()
  const sender = new UrgentSender(urgentLimits, {
    ...{ clock, rttMs: () => 20, lane: () => undefined, bufferedBytes: () => 0, hand: () => {} },
    ...{ dropped: () => expect.fail('nothing is late'), repeated: () => {} },
  })
  sender.push({
    ...{ batchBytes: new Uint8Array(100), headerBytes: 0, publisher: 'p', chain: 'c' },
    ...{ deadlineMs: 5_000, priority: 9, group: 0, object: 0, order: 'oldest' },
  })
  sender.flush()
  return { clock, sender }
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
})
