import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { randomPosition } from './cheapest.ts'
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'
import { changedBetween, faultsOf, pictureOf } from './topology.testkit.ts'

/** Beyond this size the whole graph is looked at only now and then. */
const smallSize = 60
const samplePeriod = 50

/**
 * Joins, leaves and failed edges in random order; the wanted size wanders between none and `maxSize`. Each operation
 * runs under the whole check while the graph is small, and every 50th after.
 */
class Churn {
  readonly topology: OverlayTopology<string>
  readonly #degree: number
  readonly #random
  readonly #present: string[] = []
  #joined = 0
  peakSize = 0

  constructor(degree: number, seed: number, avoid: (a: string, b: string) => boolean = () => false) {
    this.#degree = degree
    this.#random = seededRandom(seed)
    this.topology = new OverlayTopology({ degree }, { random: seededRandom(~seed), avoid })
  }

  run(operations: number, maxSize: number): void {
    let wantedSize = maxSize
    for (let i = 0; i < operations; i++) {
      if (i % 500 === 0) wantedSize = randomPosition(maxSize + 1, this.#random)
      const checked = this.topology.size <= smallSize || i % samplePeriod === 0
      const before = checked ? pictureOf(this.topology) : undefined
      const changed = this.#operate(wantedSize)
      this.peakSize = Math.max(this.peakSize, this.topology.size)
      if (before === undefined) continue
      const faults = faultsOf(this.topology, this.#degree)
      if (faults.length > 0) throw new Error(`after operation ${i}: ${faults.join('; ')}`)
      expect([...changed].sort()).toEqual([...changedBetween(before, pictureOf(this.topology))].sort())
    }
  }

  #operate(wantedSize: number): ReadonlySet<string> {
    const draw = this.#random.next()
    if (draw < 0.2) return this.#fail()
    const joinShare = this.#present.length < wantedSize ? 0.8 : 0.2
    return (draw - 0.2) / 0.8 < joinShare ? this.#join() : this.#leave()
  }

  #join(): ReadonlySet<string> {
    const id = `n${this.#joined++}`
    this.#present.push(id)
    return this.topology.add(id)
  }

  #leave(): ReadonlySet<string> {
    const position = randomPosition(this.#present.length, this.#random)
    const [id] = this.#present.splice(position, 1)
    return id === undefined ? new Set() : this.topology.remove(id)
  }

  #fail(): ReadonlySet<string> {
    const a = this.#present[randomPosition(this.#present.length, this.#random)] ?? ''
    const neighbours = [...this.topology.neighbours(a)]
    const b = neighbours[randomPosition(neighbours.length, this.#random)] ?? ''
    return this.topology.failEdge(a, b)
  }
}

describe('any sequence of joins, leaves and failed edges', () => {
  for (const degree of [2, 3, 4, 5, 6, 7, 8]) {
    it(
      `keeps a graph of degree ${degree} exact, simple, symmetric and connected`,
      { timeout: 120_000 },
      () => {
        for (const seed of [1, 2, 3]) {
          const churn = new Churn(degree, seed)
          churn.run(10_000, 500)
          expect(churn.peakSize).toBeGreaterThan(300)
        }
      },
    )

    it(`does so about degree + 2 nodes for degree ${degree}`, { timeout: 120_000 }, () => {
      for (let seed = 1; seed <= 8; seed++) {
        const churn = new Churn(degree, seed)
        churn.run(2_000, 2 * degree + 3)
        expect(churn.peakSize).toBeGreaterThan(degree + 2)
      }
    })

    it(`does so for degree ${degree} whatever is avoided`, { timeout: 120_000 }, () => {
      fc.assert(
        fc.property(
          fc.nat(),
          fc.constantFrom(0.1, 0.5, 0.9, 1),
          fc.integer({ min: 1, max: 40 }),
          (seed, share, maxSize) => {
            const churn = new Churn(degree, seed, (a, b) => pairHash(a, b, seed) < share)
            churn.run(300, maxSize)
          },
        ),
        { seed: 20261121, numRuns: 25 },
      )
    })
  }
})

describe('every way through the smallest graphs', () => {
  for (const degree of [2, 3, 4, 5]) {
    it(`every edge may fail and every node leave at every size up to 2 · ${degree} + 2`, () => {
      for (let seed = 1; seed <= 20; seed++) {
        for (let size = 1; size <= 2 * degree + 2; size++) {
          const build = () => {
            const topology = new OverlayTopology<string>({ degree }, { random: seededRandom(seed) })
            for (let i = 0; i < size; i++) topology.add(`n${i}`)
            return topology
          }
          for (const [a, b] of build().edges()) {
            const topology = build()
            topology.failEdge(a, b)
            expect(faultsOf(topology, degree)).toEqual([])
            expect(topology.hasEdge(a, b)).toBe(size <= degree + 1)
          }
          for (const id of build().nodes()) {
            const topology = build()
            topology.remove(id)
            expect(faultsOf(topology, degree)).toEqual([])
            topology.add(id)
            expect(faultsOf(topology, degree)).toEqual([])
          }
        }
      }
    })
  }
})

/** A fixed number in [0, 1) per unordered pair. */
function pairHash(a: string, b: string, seed: number): number {
  const [low, high] = a < b ? [a, b] : [b, a]
  const mixed = [...`${low}|${high}`].reduce(
    (hash, char) => Math.imul(hash ^ char.charCodeAt(0), 0x01000193),
    seed,
  )
  return seededRandom(mixed).next()
}
