import { describe, expect, it } from 'vitest'
import { Sequence } from './sequence.ts'

function follow(numbers: readonly number[]) {
  const counts = { received: 0, duplicates: 0, disordered: 0 }
  const sequence = new Sequence()
  const taken = numbers.map((number) => sequence.take(number, counts))
  return { ...counts, missing: sequence.missing, taken }
}

describe('Sequence', () => {
  it('counts what comes in order', () => {
    expect(follow([0, 1, 2])).toMatchObject({ received: 3, duplicates: 0, disordered: 0, missing: 0 })
  })

  it('begins with the first that comes', () => {
    expect(follow([7, 8])).toMatchObject({ received: 2, missing: 0 })
  })

  it('tells missing from late, and late from twice', () => {
    expect(follow([0, 3])).toMatchObject({ received: 2, missing: 2 })
    expect(follow([0, 3, 1])).toMatchObject({ received: 3, missing: 1, disordered: 1 })
    expect(follow([0, 3, 1, 1])).toMatchObject({ received: 3, missing: 1, disordered: 1, duplicates: 1 })
    expect(follow([0, 0]).taken).toEqual([true, false])
  })

  it('takes one from before the first as late', () => {
    expect(follow([5, 2])).toMatchObject({ received: 2, missing: 2, disordered: 1 })
    expect(follow([5, 2, 3, 2])).toMatchObject({ received: 3, missing: 1, disordered: 2, duplicates: 1 })
  })

  it('counts all that are missing, and remembers a bounded number of them', () => {
    expect(follow([0, 4_000_000_000]).missing).toBe(3_999_999_999)
    expect(follow([4_000_000_000, 0]).missing).toBe(3_999_999_999)
    expect(follow([0, 4_001, 8_001, 12_001]).missing).toBe(11_998)
    expect(follow([0, 10_000, 9_999, 1])).toMatchObject({ missing: 9_998, disordered: 1, duplicates: 1 })
  })
})
