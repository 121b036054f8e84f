import { expect, it } from 'vitest'
import { RareLru } from './rare-lru.ts'

it('keeps the entries used last', () => {
  const cache = new RareLru<string, number>(2)
  cache.delete('a')
  expect([cache.get('a'), cache.peek('a')]).toEqual([undefined, undefined])
  expect([cache.set('a', 1), cache.set('b', 2), cache.peek('a'), cache.get('a')]).toEqual([
    false,
    false,
    1,
    1,
  ])
  expect(cache.set('c', 3)).toBe(true)
  const seen: unknown[] = []
  cache.forEach((value, key) => seen.push([key, value]))
  expect(seen).toEqual([
    ['a', 1],
    ['c', 3],
  ])
  cache.delete('a')
  expect([cache.peek('a'), cache.peek('c')]).toEqual([undefined, 3])
  cache.clear()
  expect(cache.peek('c')).toBeUndefined()
})
