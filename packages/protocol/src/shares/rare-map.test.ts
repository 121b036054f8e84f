import { describe, expect, it } from 'vitest'
import { RareMap } from './rare-map.ts'

describe('a map that is empty most of the time', () => {
  it('is a map, whether or not it was empty before', () => {
    const map = new RareMap<string, number>()
    for (const round of [1, 2]) {
      expect([map.size, map.get('a'), map.has('a'), map.delete('a')]).toEqual([0, undefined, false, false])
      map.set('a', round).set('b', 2).set('a', 3)
      expect([...map]).toEqual([
        ['a', 3],
        ['b', 2],
      ])
      expect([[...map.keys()], [...map.values()], [...map.entries()]]).toEqual([['a', 'b'], [3, 2], [...map]])
      expect([map.delete('a'), map.delete('a'), map.delete('b')]).toEqual([true, false, true])
    }
  })

  it('shares nothing with others, and is emptied at once', () => {
    const [some, others] = [new RareMap<string, number>(), new RareMap<string, number>()]
    some.set('a', 1)
    expect(others.size).toBe(0)
    const seen: unknown[] = []
    some.forEach((value, key, map) => seen.push(value, key, map))
    expect(seen).toEqual([1, 'a', some])
    some.clear()
    expect([...some.keys()]).toEqual([])
  })

  it('lets entries go while they are walked through', () => {
    const map = new RareMap<number, string>().set(1, 'a').set(2, 'b').set(3, 'c')
    for (const key of map.keys()) map.delete(key)
    expect(map.size).toBe(0)
  })
})
