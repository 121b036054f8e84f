import { describe, expect, it } from 'vitest'
import { cheapest } from './cheapest.ts'
import { seededRandom } from './random.testkit.ts'

const position = (at: number) => at

describe('cheapest', () => {
  it('finds the only possible candidate among very many', () => {
    const choice = cheapest(50_000, position, (at) => (at === 31_415 ? 5 : Infinity), seededRandom(1))
    expect(choice).toEqual({ value: 31_415, cost: 5 })
  })

  it('finds the only free candidate among a thousand', () => {
    const choice = cheapest(1000, position, (at) => (at === 314 ? 0 : 1), seededRandom(1))
    expect(choice).toEqual({ value: 314, cost: 0 })
  })

  it('settles for the cheapest when there is none for free', () => {
    expect(cheapest(100, position, (at) => (at === 7 ? 1 : 2), seededRandom(1))).toEqual({
      value: 7,
      cost: 1,
    })
  })

  it('finds nothing where nothing is possible', () => {
    expect(cheapest(100, position, () => Infinity, seededRandom(1))).toBeUndefined()
    expect(cheapest(0, position, () => 0, seededRandom(1))).toBeUndefined()
  })

  it('stops looking for something better after a bounded number of looks', () => {
    let looks = 0
    const cost = () => {
      looks++
      return 1
    }
    cheapest(1_000_000, position, cost, seededRandom(1))
    expect(looks).toBe(32 + 1024)
  })

  it('takes every free candidate equally often', () => {
    const random = seededRandom(1)
    const counts = new Map<number, number>()
    for (let i = 0; i < 30_000; i++) {
      const { value } = cheapest(9, position, (at) => (at % 3 === 0 ? 0 : 1), random) ?? { value: -1 }
      counts.set(value, (counts.get(value) ?? 0) + 1)
    }
    expect([...counts.keys()].sort()).toEqual([0, 3, 6])
    for (const count of counts.values()) expect(Math.abs(count - 10_000)).toBeLessThan(300)
  })
})
