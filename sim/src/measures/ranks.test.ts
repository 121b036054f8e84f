import { describe, expect, it } from 'vitest'
import { ranksOf } from './ranks.ts'

describe('ranksOf', () => {
  it('is 0 for the first and 1 for the last', () => {
    expect(ranksOf([30, 10, 20])).toEqual([1, 0, 0.5])
  })

  it('has equal ones share their places, and those that never heard last', () => {
    expect(ranksOf([10, undefined, 10, 5, undefined])).toEqual([0.375, 0.875, 0.375, 0, 0.875])
  })

  it('is 0 for one alone', () => {
    expect(ranksOf([7])).toEqual([0])
  })
})
