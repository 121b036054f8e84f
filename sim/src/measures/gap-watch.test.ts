import { describe, expect, it } from 'vitest'
import { GapWatch } from './gap-watch.ts'

describe('GapWatch', () => {
  it('measures from the arrival that shows a gap to that which fills it', () => {
    const watch = new GapWatch()
    const rttMs = (): number => 50
    watch.arrived(1, 100, rttMs)
    watch.arrived(4, 200, rttMs)
    watch.arrived(3, 220, rttMs)
    watch.arrived(0, 260, rttMs)
    watch.arrived(5, 300, rttMs)
    expect(watch.filled).toEqual([
      { fillMs: 20, rttMs: 50 },
      { fillMs: 160, rttMs: 50 },
    ])
  })
})
