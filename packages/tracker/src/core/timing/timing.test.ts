import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { DelayQueue } from './delay-queue.ts'
import { ExpiringPairs } from './expiring-pairs.ts'

describe('DelayQueue', () => {
  it('does as a sorted list would, whatever happens', () => {
    const random = seededRandom('queue')
    const queue = new DelayQueue<number>(10)
    const model = new Map<number, number>()
    let now = 0
    for (let step = 0; step < 20_000; step++) {
      const key = Math.floor(random.next() * 50)
      const dice = random.next()
      if (dice < 0.4) {
        queue.add(key, now)
        model.delete(key)
        model.set(key, now + 10)
      } else if (dice < 0.6) {
        expect(queue.delete(key)).toBe(model.delete(key))
      } else if (dice < 0.8) {
        now += Math.floor(random.next() * 4)
      } else {
        const [first] = model
        const due = first !== undefined && first[1] <= now ? first[0] : undefined
        expect(queue.takeDue(now)).toBe(due)
        if (due !== undefined) model.delete(due)
      }
      expect(queue.size).toBe(model.size)
      expect(queue.has(key)).toBe(model.has(key))
      expect(queue.nextAt).toBe([...model.values()][0])
    }
  })
})

describe('ExpiringPairs', () => {
  it('knows pairs in either order, for a time', () => {
    const pairs = new ExpiringPairs<string>({ lifetimeMs: 10, maxPairs: 9 })
    pairs.add('a', 'b', 0)
    expect([pairs.has('b', 'a', 9), pairs.has('a', 'c', 9), pairs.has('a', 'b', 10)]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('forgets the oldest when there are too many, and says so', () => {
    const pairs = new ExpiringPairs<string>({ lifetimeMs: 10, maxPairs: 2 })
    expect([pairs.add('a', 'b', 0), pairs.add('a', 'c', 0), pairs.add('b', 'a', 1)]).toEqual([
      false,
      false,
      false,
    ])
    expect(pairs.add('a', 'd', 1)).toBe(true)
    expect([pairs.has('a', 'b', 1), pairs.has('a', 'c', 1), pairs.size]).toEqual([true, false, 2])
  })
})
