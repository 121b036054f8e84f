import { describe, expect, it } from 'vitest'
import { mediaLimits } from '../limits.ts'
import { LipSync } from './lip-sync.ts'

describe('lip sync', () => {
  it('paints a picture a little before the sound of its time at most, and not after it', () => {
    const sync = new LipSync()
    sync.heard(1_000_000, 5_000)
    expect(sync.dueMs(1_080_000, 5_010, 5_010)).toBe(5_020)
    // It is late already.
    expect(sync.dueMs(900_000, 5_010, 5_010)).toBe(4_900)
    for (let i = 0; i < 100; i++) sync.arrived(i * 33_000, i * 33 + 4_030)
    expect(sync.dueMs(1_080_000, 5_010, 5_010)).toBe(5_080)
    for (let i = 0; i < 250; i++) sync.arrived(i * 33_000, i * 33 + 3_980)
    expect(sync.dueMs(1_080_000, 5_010, 5_010)).toBe(5_060)
  })

  it('holds pictures back by what their own way varies where there is no sound', () => {
    const sync = new LipSync()
    for (let i = 0; i < 100; i++) sync.arrived(i * 33_000, i * 33 + 1_000 + (i % 2) * 30)
    expect(sync.dueMs(3_300_000, 4_300, 4_300)).toBe(3_300 + 1_000 + 30)
    expect(sync.jitterMs).toBeGreaterThan(20)
  })

  it('leaves sound that stopped, and waits for no sound that is far ahead', () => {
    const sync = new LipSync()
    sync.heard(1_000_000, 5_000)
    sync.arrived(2_000_000, 6_500)
    expect(sync.dueMs(2_000_000, 6_500, 6_500)).toBe(6_500)
    sync.heard(1_000_000, 7_000)
    expect(sync.dueMs(9_000_000, 7_000, 7_200)).toBe(7_000 + mediaLimits.maxLipSyncWaitMs)
  })

  it('paints at once before anything is known', () => {
    expect(new LipSync().dueMs(1_000, 50, 50)).toBe(50)
  })
})
