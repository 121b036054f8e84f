import { describe, expect, it } from 'vitest'
import { doubtsOf } from './verdict.ts'

const fine = { name: 'one', cpuShare: 0.5, rssBytes: 1, latenessP99Ms: 0.4, clockErrorMs: 0 }
const measured = { p50Ms: 2, latenessMs: 0.4, aimMs: Infinity }
const kindsOf = (figures: Partial<typeof fine>) =>
  doubtsOf([{ ...fine, ...figures }], measured).map(({ kind }) => kind)

describe('doubtsOf', () => {
  it('has none for a generator with room to spare', () => {
    expect(kindsOf({})).toEqual([])
    expect(kindsOf({ cpuShare: 0.7, latenessP99Ms: 1 })).toEqual([])
  })

  it('says that a generator was saturated, and why', () => {
    expect(kindsOf({ cpuShare: 0.71 })).toEqual(['generator-saturated'])
    expect(kindsOf({ latenessP99Ms: 1.1 })).toEqual(['generator-saturated'])
    const [doubt] = doubtsOf([{ ...fine, cpuShare: 0.9, latenessP99Ms: 3 }], measured)
    expect(doubt?.text).toBe('generator saturated: one: it used 90 % of a core, it sent 3 ms late (p99)')
  })

  it('says that messages were sent late, also of too few to call a generator saturated', () => {
    const few = [{ ...fine, latenessP99Ms: undefined }]
    const late = (latenessMs: number, aimMs = Infinity) => doubtsOf(few, { ...measured, latenessMs, aimMs })
    expect(late(10)).toEqual([])
    expect(late(113)).toEqual([
      { kind: 'generator-saturated', text: expect.stringContaining('sent up to 113 ms late') },
    ])
    expect(late(6, 5)).toHaveLength(1)
    expect(late(5, 5)).toEqual([])
    expect(doubtsOf(few, { ...measured, latenessMs: undefined })).toEqual([])
    // Once is enough.
    expect(doubtsOf([{ ...fine, latenessP99Ms: 113 }], { ...measured, latenessMs: 113 })).toHaveLength(1)
  })

  it('says that clocks are apart by more than what was measured with them', () => {
    expect(kindsOf({ clockErrorMs: 1.9 })).toEqual([])
    expect(kindsOf({ clockErrorMs: 2.1 })).toEqual(['clocks-apart'])
    expect(doubtsOf([{ ...fine, clockErrorMs: 100 }], { ...measured, p50Ms: undefined })).toEqual([])
  })

  it('adds the errors of the two worst clocks, which may be wrong in opposite ways', () => {
    const clocks = (...errorsMs: number[]) =>
      doubtsOf(
        errorsMs.map((clockErrorMs, i) => ({ ...fine, name: `g${i}`, clockErrorMs })),
        measured,
      )
    expect(clocks(0.9, 1, 0.8)).toEqual([])
    expect(clocks(1.1, 0.5, 1.3)).toEqual([
      { kind: 'clocks-apart', text: 'clocks may be 2.4 ms off, more than the median delay: g2, g0' },
    ])
  })
})
