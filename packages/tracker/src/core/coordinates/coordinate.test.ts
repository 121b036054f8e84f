import { seededRandom } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { coordinateDistanceMs, learnDistance, newCoordinate, type Coordinate } from './coordinate.ts'

/** Nodes in a plane, each with a last mile of its own. */
function world(size: number, seed: string) {
  const random = seededRandom(seed)
  const nodes = Array.from({ length: size }, () => ({
    at: [100 * random.next(), 100 * random.next()] as const,
    lastMileMs: 10 * random.next(),
    coordinate: newCoordinate(),
  }))
  type Node = (typeof nodes)[number]
  const rttMs = (a: Node, b: Node) =>
    Math.hypot(a.at[0] - b.at[0], a.at[1] - b.at[1]) + a.lastMileMs + b.lastMileMs
  return { random, nodes, rttMs }
}

function medianError(pairs: readonly (readonly [Coordinate, Coordinate, number])[]): number {
  const errors = pairs.map(([a, b, rttMs]) => Math.abs(coordinateDistanceMs(a, b) - rttMs) / rttMs)
  return errors.sort((x, y) => x - y)[errors.length >> 1] ?? NaN
}

describe('coordinates', () => {
  it('foretell distances nobody has measured', () => {
    const { random, nodes, rttMs } = world(100, 'plane')
    const measured = (i: number, k: number) => (i * 7 + k * k * 5 + k + 1) % nodes.length
    for (let round = 0; round < 100; round++) {
      for (const [i, a] of nodes.entries()) {
        for (let k = 0; k < 12; k++) {
          const b = nodes[measured(i, k)]
          if (b !== undefined && b !== a) learnDistance(a.coordinate, b.coordinate, rttMs(a, b), random)
        }
      }
    }
    const unmeasured = nodes.flatMap((a, i) =>
      nodes
        .filter((b, j) => a !== b && ![...Array(12).keys()].some((k) => measured(i, k) === j))
        .map((b) => [a.coordinate, b.coordinate, rttMs(a, b)] as const),
    )
    expect(unmeasured.length).toBeGreaterThan(8_000)
    expect(medianError(unmeasured)).toBeLessThan(0.1)
  })

  it('never get farther from the time they learn, however near the two are and however high', () => {
    const random = seededRandom('spring')
    const drawn = (separationMs: number): Coordinate => ({
      position: Array.from({ length: 3 }, () => separationMs * random.next()),
      heightMs: 0.1 + 20 * random.next(),
      error: 0.1 + random.next(),
    })
    for (let i = 0; i < 1_000; i++) {
      const separationMs = [0.1, 1, 10, 100][i % 4] ?? 0
      const [a, b] = [drawn(separationMs), drawn(separationMs)]
      const rttMs = 200 * random.next()
      const errorMs = () => Math.abs(coordinateDistanceMs(a, b) - rttMs)
      const beforeMs = errorMs()
      learnDistance(a, b, rttMs, random)
      expect(errorMs()).toBeLessThan(beforeMs)
    }
  })

  it('stay finite and at a height above 0 whatever they are told', () => {
    const random = seededRandom('any')
    const [a, b] = [newCoordinate(), newCoordinate()]
    for (let i = 0; i < 10_000; i++) {
      const rttMs = [0, 0.001, 10 * random.next(), 1e9 * random.next()][i % 4] ?? 0
      learnDistance(a, b, rttMs, random)
      learnDistance(b, a, rttMs, random)
      expect(a.heightMs).toBeGreaterThan(0)
      expect(Number.isFinite(coordinateDistanceMs(a, b))).toBe(true)
      expect(a.error).toBeLessThanOrEqual(1.5)
    }
  })
})
