import { describe, expect, it } from 'vitest'
import { BoundedGraph } from './bounded-graph.ts'
import { EdgeLengths } from './edge-lengths.ts'

type Node = 'a' | 'b' | 'c' | 'e' | 'x' | 'y'

/** a–b and c–e, and what else is given; times by pair, the rest unknown. */
function lengthsOf(timesMs: Readonly<Record<string, number>>, more: readonly (readonly [Node, Node])[] = []) {
  const graph = new BoundedGraph<Node>(4)
  for (const id of ['a', 'b', 'c', 'e', 'x', 'y'] as const) graph.addNode(id)
  for (const [one, other] of [['a', 'b'], ['c', 'e'], ...more] as const) graph.connect(one, other)
  const distanceMs = (one: Node, other: Node) => timesMs[one + other] ?? timesMs[other + one]
  return new EdgeLengths(graph, { distanceMs })
}

const exchange = { a: 'a', b: 'b', c: 'c', e: 'e' } as const

describe('the gain of an exchange', () => {
  const shorterMs = { ab: 96, ce: 96, ac: 46, be: 46 }
  const attached = [['a', 'x'], ['b', 'x'], ['c', 'y'], ['e', 'y']] as const // prettier-ignore
  const nearMs = { ax: 6, bx: 6, cy: 6, ey: 6 }

  it('is how much shorter both edges are, as a logarithm, where nobody’s nearest neighbour changes', () => {
    const lengths = lengthsOf({ ...shorterMs, ...nearMs }, attached)
    expect(lengths.gainOf(exchange)).toBeCloseTo(2 * Math.log(2))
  })

  it('is larger where nodes get a nearer neighbour than all of theirs, and smaller where they lose it', () => {
    expect(lengthsOf(shorterMs).gainOf(exchange)).toBeCloseTo(4 * Math.log(2))
    const lost = { ab: 46, ce: 46, ac: 46, be: 46, ax: 96, bx: 96, cy: 96, ey: 96 }
    expect(lengthsOf(lost, attached).gainOf(exchange)).toBeCloseTo(0)
    expect(lengthsOf({ ...lost, ac: 96, be: 96 }, attached).gainOf(exchange)).toBeCloseTo(-4 * Math.log(2))
  })

  it('is no number while a time is unknown', () => {
    expect(lengthsOf({ ab: 96, ce: 96, ac: 46 }).gainOf(exchange)).toBeNaN()
  })
})

describe('the gain of an exchange for last miles', () => {
  it('is positive where it pairs the nodes with near neighbours, however far apart those are', () => {
    const attached = [['a', 'x'], ['b', 'y'], ['c', 'x'], ['e', 'y']] as const // prettier-ignore
    const timesMs = { ab: 90, ce: 90, ac: 500, be: 500, ax: 1, cx: 1, by: 19, ey: 19 }
    const lengths = lengthsOf(timesMs, attached)
    expect(lengths.lastMileGainOf(exchange)).toBeCloseTo(Math.log((24 * 24) / (6 * 42)))
    expect(lengths.lastMileGainOf({ ...exchange, c: 'e', e: 'c' })).toBeCloseTo(0)
  })
})
