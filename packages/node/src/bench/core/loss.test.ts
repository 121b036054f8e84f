import { describe, expect, it } from 'vitest'
import { lossesOf, lossText, noneDropped, type LossCounts } from './loss.ts'
import type { LoadPlan } from './plan.ts'

const plan = { parts: [{}, {}], clients: 6, subscribes: true } as unknown as LoadPlan
const counts = (over: Partial<LossCounts> = {}): LossCounts => ({
  ...{ unsent: [0, 0], first: 0, missing: 0, dropped: noneDropped, ...over },
})

describe('lossesOf', () => {
  it('counts what was not sent for each who should have had it, and what is missing by its place', () => {
    const losses = lossesOf(plan, 20, [
      counts({ unsent: [1, 0], first: 3 }),
      counts({ unsent: [1, 2], missing: 9 }),
    ])
    expect(losses).toMatchObject({ lost: 20, unsent: 8, first: 3, between: 9, last: 8 })
  })

  it('counts what was not sent once, where nobody of the run reads', () => {
    expect(lossesOf({ ...plan, subscribes: false }, 3, [counts({ unsent: [1, 2] })]).unsent).toBe(3)
  })

  it('adds up what was dropped, and knows nothing of it where one generator does not', () => {
    const dropped = { late: 1, refused: 2, unresolved: 3 }
    expect(lossesOf(plan, 1, [counts({ dropped }), counts({ dropped })]).dropped).toEqual({
      ...{ late: 2, refused: 4, unresolved: 6 },
    })
    expect(lossesOf(plan, 1, [counts({ dropped }), counts({ dropped: undefined })]).dropped).toBeUndefined()
  })
})

describe('lossText', () => {
  it('says why', () => {
    const text = (lost: number, over: Partial<LossCounts>) => lossText(lossesOf(plan, lost, [counts(over)]))
    expect(text(0, {})).toBeUndefined()
    expect(text(5, { missing: 5 })).toContain('5 never came')
    expect(text(2, { unsent: [1, 0] })).toContain('No other is known')
    expect(text(5, { dropped: { late: 7, refused: 0, unresolved: 1 } })).toContain(
      '7 late, 0 refused, 1 while',
    )
    expect(text(5, { dropped: undefined })).toContain('do not say')
  })
})
