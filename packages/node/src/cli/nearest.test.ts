import { describe, expect, it } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

describe('nearest', () => {
  it.each([
    ['prot', 'port'],
    ['PORT', 'port'],
    ['intervallMs', 'intervalMs'],
    ['zzzzzz', undefined],
    ['x', undefined],
  ])('%s means %s', (word, meant) => {
    expect(nearest(word, ['host', 'port', 'intervalMs'])).toBe(meant)
  })

  it('offers nothing when nothing is near', () => {
    expect(didYouMean('wholly-else', ['port'])).toBe('')
    expect(didYouMean('prot', ['port'])).toBe('; did you mean port?')
  })
})
