import type { EncryptionChoice } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { EpochTerms } from './epoch-terms.ts'
import { clockToleranceMs } from './reader-set.ts'

const nowMs = 1_000_000_000
const dayMs = 86_400_000

function terms(choice: EncryptionChoice = {}): EpochTerms {
  const readers = { gains: () => 10, losses: () => 100, lossBlock: 5, lastEndMs: () => nowMs - 50 }
  return new EpochTerms(choice, { clock: { now: () => nowMs }, readers })
}

describe('an epoch', () => {
  it('is replaced after losses and when the key holder has another, and without history after gains', () => {
    const [withHistory, without] = [terms(), terms({ history: 'none' })]
    expect([withHistory.changes(nowMs), without.changes(nowMs)]).toEqual([100, 110])
    withHistory.follow()
    expect(withHistory.changes(nowMs)).toBe(101)
  })

  it('is too old after so many days, whatever date it has', () => {
    expect(terms().endMs({ createdMs: nowMs - dayMs })).toBe(nowMs + 6 * dayMs)
    expect(terms({ rotateAfterDays: 2 }).endMs({ createdMs: nowMs + dayMs })).toBe(nowMs + 2 * dayMs)
  })

  it('is not dated before the one to which it leads, unless that is too far ahead', () => {
    expect(terms().dateAfter(nowMs - 5)).toBe(nowMs)
    expect(terms().dateAfter(nowMs + 5)).toBe(nowMs + 5)
    expect(terms().dateAfter(nowMs + dayMs)).toBe(nowMs + clockToleranceMs)
    expect(terms({ history: 'none' }).dateAfter(nowMs + 5)).toBe(nowMs)
  })

  it('regards who lost the right to read when it was made afterwards, by blocks and by dates', () => {
    const regards = (readersAtBlock: number, createdMs: number): boolean =>
      terms().regardsLosses({ readersAtBlock, createdMs }, nowMs)
    expect([regards(5, nowMs - 50), regards(4, nowMs), regards(6, nowMs - 51)]).toEqual([true, false, false])
  })
})
