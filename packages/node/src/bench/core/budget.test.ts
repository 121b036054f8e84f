import { describe, expect, it } from 'vitest'
import { requireBound, runBoundMs, workBoundMs } from './budget.ts'

const times = { settleMs: 1, warmupMs: 0.5, durationMs: 10, drainMs: 5, prepareMs: 0 }

describe('the bound of a run', () => {
  it('is whole milliseconds, as timers take no others', () => {
    const boundMs = runBoundMs({ clients: 10, connectPerS: 3 }, times)
    expect(Number.isInteger(boundMs)).toBe(true)
    expect(boundMs).toBeGreaterThan((10 / 3) * 2_000)
  })

  it('has room for closing the users, when time for the rest is up', () => {
    const plan = { clients: 10, connectPerS: 3 }
    expect(runBoundMs(plan, times) - workBoundMs(plan, times)).toBe(30_000)
  })

  it('is refused where no timer waits that long', () => {
    requireBound(2 ** 31 - 1)
    expect(() => requireBound(2 ** 31)).toThrow(expect.objectContaining({ code: 'USAGE' }))
    expect(() => requireBound(2 ** 31)).toThrow('more than 24 days')
  })
})
