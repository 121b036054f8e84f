import { expect, it } from 'vitest'
import { RareSet } from './rare-set.ts'

it('is a set, whether or not it was empty before, and shares nothing with others', () => {
  const [set, other] = [new RareSet<string>(), new RareSet<string>()]
  for (const last of ['b', 'c']) {
    expect([set.size, set.has('a'), set.delete('a')]).toEqual([0, false, false])
    set.add('a').add(last).add('a')
    expect([[...set], set.size, set.has(last), other.size]).toEqual([['a', last], 2, true, 0])
    expect([set.delete('a'), set.delete(last)]).toEqual([true, true])
  }
  set.add('a').clear()
  expect([...set]).toEqual([])
})
