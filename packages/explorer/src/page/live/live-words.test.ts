import { describe, expect, it } from 'vitest'
import { spokenWords } from './live-words.ts'

describe('what a screen reader says by itself', () => {
  it('changes with the phase, and not with figures', () => {
    expect(spokenWords('out', 0, false)).toBe('')
    expect(spokenWords('joining', 0, false)).toBe('Joining')
    expect(spokenWords('in', 0, false)).toBe('Joined; waiting for the first neighbour')
    expect(spokenWords('in', 1, false)).toBe(spokenWords('in', 4, false))
    expect(spokenWords('in', 4, true)).toBe('Joined, paused')
  })
})
