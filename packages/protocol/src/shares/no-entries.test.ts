import { describe, expect, it } from 'vitest'
import { noEntries } from './no-entries.ts'

describe('noEntries', () => {
  it('is one map for all, and takes no entry', () => {
    const [some, others] = [noEntries<string, number>(), noEntries<number, string>()]
    expect(some).toBe(others)
    expect(some.get('a')).toBeUndefined()
    expect(some.delete('a')).toBe(false)
    expect(() => some.set('a', 1)).toThrow('share')
    expect(others.size).toBe(0)
  })
})
