import { describe, expect, it } from 'vitest'
import { IndexedSet } from './indexed-set.ts'
import { seededRandom } from './random.testkit.ts'

describe('IndexedSet', () => {
  it('holds what a Set would hold, every element at one position', () => {
    const random = seededRandom(1)
    const indexed = new IndexedSet<string>()
    const set = new Set<string>()
    for (let i = 0; i < 2000; i++) {
      const item = `i${Math.floor(random.next() * 50)}`
      if (random.next() < 0.5) {
        indexed.add(item)
        set.add(item)
      } else {
        indexed.delete(item)
        set.delete(item)
      }
      expect(indexed.has(item)).toBe(set.has(item))
      expect(indexed.size).toBe(set.size)
      expect(new Set(Array.from({ length: indexed.size }, (_, position) => indexed.at(position)))).toEqual(
        set,
      )
    }
    expect(new Set(indexed)).toEqual(set)
  })

  it('has nothing outside its positions', () => {
    const indexed = new IndexedSet<string>()
    expect(() => indexed.at(0)).toThrow(RangeError)
    indexed.add('a')
    expect(() => indexed.at(1)).toThrow(RangeError)
    expect(() => indexed.at(-1)).toThrow(RangeError)
  })
})
