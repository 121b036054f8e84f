import { describe, expect, it } from 'vitest'
import { seededRandom, overlayStrategies, type NodeId } from '@runnel/protocol'
import { changedBetween, pictureOf } from '../topology/topology.testkit.ts'
import type { OverlayStrategy } from './overlay-strategy.ts'
import { createStrategy } from './strategies.ts'

const degrees = [2, 3, 4, 5, 8]
const cases = overlayStrategies.flatMap((strategy) => degrees.map((degree) => ({ strategy, degree })))
const idOf = (n: number) => `n${n}` as NodeId

/** What every strategy promises, as sentences about what does not hold. */
function broken(topology: OverlayStrategy<NodeId>, degree: number): string[] {
  const faults: string[] = []
  const picture = pictureOf(topology)
  let ends = 0
  for (const [id, neighbours] of picture) {
    ends += neighbours.size
    if (neighbours.size > degree) faults.push(`${id} has ${neighbours.size} neighbours`)
    if (neighbours.has(id)) faults.push(`${id} is its own neighbour`)
    for (const other of neighbours)
      if (picture.get(other)?.has(id) !== true || !topology.hasEdge(id as NodeId, other as NodeId))
        faults.push(`${id} - ${other} has one end`)
  }
  if (ends !== 2 * topology.edgeCount || [...topology.edges()].length !== topology.edgeCount)
    faults.push(`edgeCount is ${topology.edgeCount}`)
  const [first] = picture.keys()
  const reached = new Set(first === undefined ? [] : [first])
  for (const id of reached) for (const other of picture.get(id) ?? []) reached.add(other)
  if (reached.size !== picture.size) faults.push(`${reached.size} of ${picture.size} nodes hang together`)
  return faults
}

describe.each(cases)('$strategy with degree $degree', ({ strategy, degree }) => {
  const setUp = (seed: number) => {
    const random = seededRandom(`${strategy} ${degree} ${seed}`)
    const avoided = new Set<string>()
    const topology = createStrategy(
      { strategy, degree },
      {
        ...{ random, maxMeasuredPeers: 32 },
        avoid: (a, b) => avoided.has([a, b].sort().join()),
        isPublisher: (id) => id.endsWith('7'),
      },
    )
    return { random, avoided, topology }
  }

  it('keeps its promises whatever happens, and says who has other neighbours', () => {
    for (let seed = 0; seed < 4; seed++) {
      const { random, avoided, topology } = setUp(seed)
      let next = 0
      for (let step = 0; step < 300; step++) {
        const nodes = [...topology.nodes()]
        const pick = () => nodes[Math.floor(random.next() * nodes.length)] ?? idOf(0)
        const before = pictureOf(topology)
        const what = random.next()
        let changed: ReadonlySet<NodeId> = new Set()
        const [a] = [pick()]
        const [b] = [...topology.neighbours(a)]
        if (what < 0.4 || nodes.length < 2) changed = topology.add(idOf(next++))
        else if (what < 0.6) changed = topology.remove(a)
        else if (what < 0.75 && b !== undefined) {
          avoided.add([a, b].sort().join())
          changed = topology.failEdge(a, b)
        } else {
          for (const other of topology.neighbours(a)) {
            const rttMs = 1 + 200 * random.next()
            topology.report(a, new Map([[other, rttMs]]))
            topology.report(other, new Map([[a, rttMs]]))
          }
          changed = topology.improve(a, () => true).changed
        }
        expect(broken(topology, degree)).toEqual([])
        for (const id of changedBetween(before, pictureOf(topology))) expect(changed).toContain(id)
      }
    }
  })

  it('takes over its own edges', () => {
    const { topology } = setUp(1)
    for (let n = 0; n < 60; n++) topology.add(idOf(n))
    const again = setUp(2).topology
    const edges = [...topology.edges()]
    again.adopt(edges)
    expect(broken(again, degree)).toEqual([])
    const kept = edges.filter(([a, b]) => again.hasEdge(a, b))
    expect(kept.length).toBeGreaterThanOrEqual(0.95 * edges.length)
  })

  it('takes over edges of which many are missing or too many', () => {
    for (let seed = 0; seed < 10; seed++) {
      const { random, topology } = setUp(seed)
      const node = () => idOf(Math.floor(random.next() * 40))
      topology.adopt(Array.from({ length: 20 * seed }, () => [node(), node()] as const))
      expect(broken(topology, degree)).toEqual([])
    }
  })
})
