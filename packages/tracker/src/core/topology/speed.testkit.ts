// Prints what joins, leaves, failed edges and adoption cost: node packages/tracker/src/core/topology/speed.testkit.ts
import { OverlayTopology } from './overlay-topology.ts'
import { seededRandom } from './random.testkit.ts'

const sampleSize = 2000

function timeMs(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

function measure(degree: number, size: number): Record<string, string | number> {
  const topology = new OverlayTopology<string>({ degree }, { random: seededRandom(1) })
  const ids = Array.from({ length: size }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
  const growMs = timeMs(() => ids.forEach((id) => topology.add(id)))
  const sample = ids.filter((_, i) => i % Math.ceil(size / sampleSize) === 0)
  const leaveMs = timeMs(() => sample.forEach((id) => topology.remove(id)))
  const joinMs = timeMs(() => sample.forEach((id) => topology.add(id)))
  const failing = sample.flatMap((a) => [...topology.neighbours(a)].slice(0, 1).map((b) => [a, b] as const))
  const failMs = timeMs(() => failing.forEach(([a, b]) => topology.failEdge(a, b)))
  const edges = [...topology.edges()]
  const restarted = new OverlayTopology<string>({ degree }, { random: seededRandom(2) })
  const adoptMs = timeMs(() => restarted.adopt(edges))
  return {
    degree,
    nodes: size,
    'join from empty, ms': (growMs / size).toFixed(4),
    'join at size, ms': (joinMs / sample.length).toFixed(4),
    'leave, ms': (leaveMs / sample.length).toFixed(4),
    'failed edge, ms': (failMs / failing.length).toFixed(4),
    'adopt all, ms': adoptMs.toFixed(0),
  }
}

measure(4, 2000) // lets the compiler warm up
console.table([4, 5, 8].flatMap((degree) => [5000, 100_000].map((size) => measure(degree, size))))
