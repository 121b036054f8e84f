import { describe, expect, it } from 'vitest'
import { figure, shownOf } from './list-words.ts'

const part = { total: 50_000, isWhole: false }
const whole = { total: 800, isWhole: true }

describe('what is said of a list', () => {
  it('names the largest only where all are known', () => {
    const how = { isSearch: false, isSorted: true }
    expect(shownOf(500, whole, how)).toBe('The 500 largest of 800 are shown.')
    expect(shownOf(500, part, how)).toBe('500 of 50,000 are shown.')
    expect(figure('7 nodes', whole)).toBe('7 nodes')
    expect(figure('7 nodes', part)).toBe('at least 7 nodes')
  })

  it('does not count what a search has not found', () => {
    const search = { isSearch: true, isSorted: false }
    expect(shownOf(100, { total: 100, isWhole: false }, search)).toBe('100 of at least 100 are shown.')
    expect(shownOf(100, { total: 100, isWhole: true }, search)).toBeUndefined()
  })
})
