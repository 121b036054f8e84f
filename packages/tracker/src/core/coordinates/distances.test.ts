import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { Distances } from './distances.ts'

function newDistances(maxMeasuredPeers = 32): Distances<string> {
  return new Distances<string>({ maxMeasuredPeers }, { random: seededRandom('distances') })
}

const says = (peer: string, rttMs: number) => new Map([[peer, rttMs]])

describe('Distances', () => {
  it('knows nothing of who has not reported', () => {
    const distances = newDistances()
    distances.report('a', says('b', 10))
    expect([distances.measuredMs('a', 'b'), distances.estimateMs('a', 'b')]).toEqual([undefined, undefined])
  })

  it('takes the longer of what the two ends say', () => {
    const distances = newDistances()
    expect(distances.report('a', says('b', 10))).toBe(0)
    expect(distances.report('b', says('a', 12))).toBe(0)
    expect([distances.measuredMs('a', 'b'), distances.estimateMs('b', 'a')]).toEqual([12, 12])
  })

  it('lets a liar look farther, not nearer', () => {
    const distances = newDistances()
    distances.report('a', says('liar', 30))
    expect(distances.report('liar', says('a', 0.1))).toBe(1)
    expect(distances.measuredMs('a', 'liar')).toBe(30)
    distances.report('liar', says('a', 1e6))
    expect(distances.measuredMs('a', 'liar')).toBe(1e6)
  })

  it('moves nobody for what the two ends dispute', () => {
    const estimateAfter = (lies: boolean) => {
      const distances = newDistances()
      const nodes = Array.from({ length: 8 }, (_, i) => `n${i}`)
      for (let round = 0; round < 50; round++) {
        distances.report('far', says('n1', 90))
        if (lies) distances.report('liar', new Map(nodes.map((node) => [node, 0.1])))
        for (const a of nodes) {
          const rttsMs = new Map(
            [...nodes, 'far'].filter((b) => b !== a).map((b) => [b, b === 'far' ? 90 : 50]),
          )
          distances.report(a, lies ? rttsMs.set('liar', 1_000) : rttsMs)
        }
      }
      expect(distances.estimateMs('n0', 'liar')).toBe(lies ? 1_000 : undefined)
      return distances.estimateMs('n0', 'far')
    }
    expect(estimateAfter(false)).toBeGreaterThan(10)
    expect(estimateAfter(true)).toBe(estimateAfter(false))
  })

  it('takes those who could not be connected to be infinitely far apart, until both measure something', () => {
    const distances = newDistances()
    for (const [a, b] of [
      ['a', 'c'],
      ['b', 'c'],
    ] as const) {
      distances.report(a, says(b, 10))
      distances.report(b, says(a, 10))
    }
    const learn = () => ['a', 'b', 'c'].forEach((id) => distances.learn(id))
    learn()
    expect(distances.estimateMs('a', 'b')).toBeLessThan(100)
    distances.failed('a', 'b')
    learn()
    expect(distances.estimateMs('b', 'a')).toBe(Infinity)
    expect(distances.estimateMs('a', 'c')).toBe(10)
    distances.report('a', says('b', 5))
    expect(distances.estimateMs('a', 'b')).toBe(Infinity)
    distances.report('b', says('a', 5))
    expect(distances.estimateMs('a', 'b')).toBe(5)
  })

  it('forgets what was reported longest ago when there is too much, and who is gone', () => {
    const distances = newDistances(3)
    for (let i = 0; i < 5; i++) {
      distances.report('a', says(`b${i}`, 10))
      distances.report(`b${i}`, says('a', 10))
    }
    expect(distances.measuredMs('a', 'b1')).toBe(undefined)
    expect(distances.measuredMs('a', 'b2')).toBe(10)
    expect(distances.size).toBe(6)
    distances.delete('b2')
    expect([distances.measuredMs('a', 'b2'), distances.size]).toEqual([undefined, 5])
  })
})
