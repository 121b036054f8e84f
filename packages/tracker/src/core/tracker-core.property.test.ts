import { overlayStrategies, seededRandom, type NodeId, type OverlayStrategyName } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { SimulatedNodes } from './simulated-nodes.testkit.ts'
import { nodeId, partA, partB, TrackerStory } from './tracker-core.testkit.ts'

const parts = [partA, partB]
const degree = 4
const population = 40

function world(seed: number, overlay: OverlayStrategyName): SimulatedNodes {
  const makeStory = () => new TrackerStory({ degree, overlay, seed: `core ${seed}` })
  const faults = { lossRate: 0.1, duplicationRate: 0.2, maxDelayMs: 200 }
  const nodes = new SimulatedNodes(faults, { random: seededRandom(`nodes ${seed}`), makeStory })
  // Five places on a line.
  nodes.rttMs = (a, b) => 1 + 30 * Math.abs((Number(a) % 5) - (Number(b) % 5))
  for (let n = 1; n < population; n += 8) nodes.blocked.add(nodeId(n) + nodeId(n + 1))
  return nodes
}

function happen(nodes: SimulatedNodes, random: { next(): number }, withTrackerRestarts: boolean): void {
  const n = 1 + Math.floor(random.next() * population)
  const part = parts[Math.floor(random.next() * parts.length)] ?? partA
  const dice = random.next()
  if (dice < 0.5) nodes.join(nodes.start(n), part)
  else if (dice < 0.65) nodes.leave(nodeId(n), part)
  else if (dice < 0.75) nodes.crash(nodeId(n))
  else if (dice < 0.85) nodes.restart(nodeId(n))
  else if (dice < 0.99 || !withTrackerRestarts) nodes.disconnect(nodeId(n))
  else nodes.restartTracker()
}

/** The actual graph is what the tracker wants, and what the tracker wants is right. */
function expectExact(nodes: SimulatedNodes): void {
  for (const part of parts) {
    const members = [...nodes.nodes.values()].filter((node) => node.parts.has(part)).map(({ id }) => id)
    const topology = nodes.story.core.streamParts.get(part)?.topology
    expect(new Set(topology?.nodes())).toEqual(new Set(members))
    let open = 0
    for (const id of members) {
      const attached = nodes.attached(id, part)
      expect(attached, `${part} ${id}`).toEqual(topology?.neighbours(id))
      expect(attached.size).toBeLessThanOrEqual(degree)
      open += Math.min(degree, members.length - 1) - attached.size
    }
    if (nodes.story.core.streamParts.get(part)?.kind.strategy !== 'tree') expect(open).toBe(0)
    expect(reachable(nodes, members, part).size).toBe(members.length)
  }
}

function reachable(
  nodes: SimulatedNodes,
  members: readonly NodeId[],
  part: (typeof parts)[number],
): Set<NodeId> {
  const seen = new Set(members.slice(0, 1))
  for (const id of seen) for (const other of nodes.attached(id, part)) seen.add(other)
  return seen
}

/** An exchange of edges may be under way: after it all is in place. */
function finishExchange(nodes: SimulatedNodes): void {
  const { counters } = nodes.story.core
  for (let exchanged = -1; exchanged !== counters.get('edgesExchanged'); nodes.run(1_000, 100))
    exchanged = counters.get('edgesExchanged')
}

const cases = overlayStrategies.flatMap((overlay) =>
  [false, true].map((withTrackerRestarts) => ({ overlay, withTrackerRestarts })),
)

describe('honest nodes around a tracker', () => {
  for (const { overlay, withTrackerRestarts } of cases) {
    for (let seed = 1; seed <= 6; seed++) {
      const what = withTrackerRestarts ? 'their faults, and with tracker restarts' : 'their faults'
      it(`end in the exact ${overlay} overlay whatever ${what} (seed ${seed})`, () => {
        const nodes = world(seed, overlay)
        const random = seededRandom(`events ${seed}`)
        for (let n = 1; n <= 20; n++) for (const part of parts) nodes.join(nodes.start(n), part)
        for (let step = 0; step < 300; step++) {
          happen(nodes, random, withTrackerRestarts)
          nodes.run(random.next() < 0.8 ? 25 : 2_000)
        }
        nodes.faults = { ...nodes.faults, lossRate: 0 }
        nodes.run(200_000, 100)
        finishExchange(nodes)
        expectExact(nodes)
        const { counters } = nodes.story.core
        expect(counters.get('edgeFailuresIgnored')).toBe(0)
        expect(counters.get('edgesExchanged') > 0).toBe(overlay !== 'random')
      })
    }
  }
})
