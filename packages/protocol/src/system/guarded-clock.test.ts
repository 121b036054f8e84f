import { describe, expect, it } from 'vitest'
import { guardedClock } from './guarded-clock.ts'
import { systemClock } from './system-clock.ts'

describe('guardedClock', () => {
  it('reports what a scheduled call throws, and does the next', async () => {
    const faults: unknown[] = []
    const clock = guardedClock(systemClock, (error) => faults.push(error))
    clock.schedule(0, () => {
      throw new Error('scheduled')
    })
    clock.endOfTurn(() => {
      throw new Error('at the end of the turn')
    })
    await new Promise<void>((resolve) => clock.schedule(5, resolve))
    await new Promise<void>((resolve) => clock.endOfTurn(resolve))
    expect(faults.map(String).sort()).toEqual(['Error: at the end of the turn', 'Error: scheduled'])
  })

  it('can be cancelled as ever', () => {
    const clock = guardedClock(systemClock, () => {})
    clock.schedule(0, () => expect.unreachable())()
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1_000)
  })
})
