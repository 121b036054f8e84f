import { expect, it } from 'vitest'
import { dropOldest } from './drop-oldest.ts'

it('drops the first entry of more than so many, of a map or a set', () => {
  const map = new Map([
    ['a', 1],
    ['b', 2],
  ])
  dropOldest(map, 2)
  expect([...map.keys()]).toEqual(['a', 'b'])
  dropOldest(map, 1)
  expect([...map.keys()]).toEqual(['b'])
  const set = new Set([undefined, 0])
  dropOldest(set, 1)
  expect([...set]).toEqual([0])
})
