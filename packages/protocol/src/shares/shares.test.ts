import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Shares } from './shares.ts'

describe('shares', () => {
  it('give everybody what they want while there is room', () => {
    const shares = new Shares<number>({ max: 3, evict: 'newest' })
    for (const item of [1, 2, 3]) expect(shares.add(item, 'a')).toEqual([])
    expect(shares.heldBy('a')).toBe(3)
    expect(shares.add(4, 'a')).toEqual([4])
    expect(shares.size).toBe(3)
  })

  it('let a newcomer in at the cost of the heaviest, whose newest or oldest goes', () => {
    for (const [evict, victim] of [
      ['newest', 3],
      ['oldest', 1],
    ] as const) {
      const shares = new Shares<number>({ max: 3, evict })
      for (const item of [1, 2, 3]) shares.add(item, 'attacker')
      expect(shares.add(10, 'honest')).toEqual([victim])
      expect(shares.has(10)).toBe(true)
    }
  })

  it('know the newest whatever was used, given back and taken again', () => {
    const steps = fc.array(fc.record({ act: fc.constantFrom('add', 'touch', 'delete'), item: fc.nat(9) }))
    fc.assert(
      fc.property(steps, (taken) => {
        const shares = new Shares<number>({ max: 9, evict: 'newest' })
        const order: number[] = []
        for (const { act, item } of taken) {
          const at = order.indexOf(item)
          if (act === 'add' && (at >= 0 || order.length === 9)) continue
          if (act === 'touch' && at < 0) continue
          if (at >= 0) order.splice(at, 1)
          if (act === 'add') shares.add(item, 'a')
          if (act === 'touch') shares.touch(item)
          if (act === 'delete') shares.delete(item)
          else order.push(item)
        }
        for (let item = 100; shares.size < 9; item++) {
          shares.add(item, 'a')
          order.push(item)
        }
        expect(shares.add(-1, 'b')).toEqual([order.at(-1)])
      }),
    )
  })

  it('turn over within a cause that is the heaviest itself, as a cache does', () => {
    const shares = new Shares<number>({ max: 2, evict: 'oldest' })
    shares.add(1, 'a')
    shares.add(2, 'a')
    shares.touch(1)
    expect(shares.add(3, 'a')).toEqual([2])
  })

  it('do not let two that hold as much push each other out in turn', () => {
    const shares = new Shares<string>({ max: 4, evict: 'newest' })
    for (const item of ['a1', 'a2', 'b1', 'b2']) shares.add(item, item.slice(0, 1))
    expect(shares.add('a3', 'a')).toEqual(['a3'])
    expect(shares.add('b3', 'b')).toEqual(['b3'])
  })

  it('take as many light items as a heavy one needs, and no item that is larger than all', () => {
    const shares = new Shares<string>({ max: 10, evict: 'oldest' })
    for (const item of ['a1', 'a2', 'a3', 'a4', 'a5']) shares.add(item, 'a', 2)
    expect(shares.add('b1', 'b', 4)).toEqual(['a1', 'a2'])
    expect(shares.add('c1', 'c', 11)).toEqual(['c1'])
    expect(shares.held).toBe(10)
  })

  it('never hold more than max, and always leave a cause its fair share', () => {
    const calls = fc.array(fc.record({ cause: fc.nat(5), weight: fc.integer({ min: 1, max: 4 }) }), {
      maxLength: 200,
    })
    fc.assert(
      fc.property(calls, fc.constantFrom('newest' as const, 'oldest' as const), (added, evict) => {
        const max = 24
        const shares = new Shares<number>({ max, evict })
        const held = new Map<number, { cause: string; weight: number }>()
        added.forEach(({ cause, weight }, item) => {
          const before = shares.heldBy(String(cause))
          const evicted = shares.add(item, String(cause), weight)
          held.set(item, { cause: String(cause), weight })
          for (const victim of evicted) held.delete(victim)
          const sum = [...held.values()].reduce((total, place) => total + place.weight, 0)
          expect(shares.held).toBe(sum)
          expect(sum).toBeLessThanOrEqual(max)
          // Six causes: whoever has less than a sixth, with what it asks for, is let in.
          if (before + weight <= max / 6) expect(held.has(item)).toBe(true)
        })
      }),
    )
  })
})
