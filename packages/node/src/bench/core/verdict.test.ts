import { describe, expect, it } from 'vitest'
import { doubtsOf } from './verdict.ts'

const fine = { name: 'one', cpuShare: 0.5, rssBytes: 1, latenessP99Ms: 0.4, clockErrorMs: 0 }
const kindsOf = (figures: Partial<typeof fine>) =>
  doubtsOf([{ ...fine, ...figures }], 2).map(({ kind }) => kind)

describe('doubtsOf', () => {
  it('has none for a generator with room to spare', () => {
    expect(kindsOf({})).toEqual([])
    expect(kindsOf({ cpuShare: 0.7, latenessP99Ms: 1 })).toEqual([])
  })

  it('says that a generator was saturated, and why', () => {
    expect(kindsOf({ cpuShare: 0.71 })).toEqual(['generator-saturated'])
    expect(kindsOf({ latenessP99Ms: 1.1 })).toEqual(['generator-saturated'])
    const [doubt] = doubtsOf([{ ...fine, cpuShare: 0.9, latenessP99Ms: 3 }], 1)
    expect(doubt?.text).toBe('generator saturated: one: it used 90 % of a core, it sent 3 ms late (p99)')
  })

  it('says that clocks are apart by more than what was measured with them', () => {
    expect(kindsOf({ clockErrorMs: 1.9 })).toEqual([])
    expect(kindsOf({ clockErrorMs: 2.1 })).toEqual(['clocks-apart'])
    expect(doubtsOf([{ ...fine, clockErrorMs: 100 }], undefined)).toEqual([])
  })

  it('adds the errors of the two worst clocks, which may be wrong in opposite ways', () => {
    const clocks = (...errorsMs: number[]) =>
      doubtsOf(
        errorsMs.map((clockErrorMs, i) => ({ ...fine, name: `g${i}`, clockErrorMs })),
        2,
      )
    expect(clocks(0.9, 1, 0.8)).toEqual([])
    expect(clocks(1.1, 0.5, 1.3)).toEqual([
      { kind: 'clocks-apart', text: 'clocks may be 2.4 ms off, more than the median delay: g2, g0' },
    ])
  })
})
