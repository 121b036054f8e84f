import type { Random } from '@runnel/protocol'
import { greatestEccentricity } from '../../graphs/diameter.ts'
import { meanDelayMs } from '../../graphs/shortest-delays.ts'
import { WeightedGraph } from '../../graphs/weighted-graph.ts'
import { meanOneWayFromMs, type LatencyModel } from '../../latency/latency-model.ts'
import { pick, processingMs } from '../formation.ts'

/** Nodes from which delays to all others are followed, and hops. */
const delaySources = 32
const hopSources = 1_024

/** What an overlay is like as a graph. */
export interface OverlayShape {
  /** By the fastest way, from some nodes to all others. */
  readonly meanMs: number
  /** The same by the mean one-way delay from those nodes. Infinity when a node cannot be reached. */
  readonly rdp: number
}

/** `neighbours` has `degree` places for each node in turn, -1 in those that are free. */
export function shapeOf(
  neighbours: Int32Array,
  degree: number,
  model: LatencyModel,
  random: Random,
): OverlayShape {
  const graph = new WeightedGraph(model.nodes)
  for (const [place, b] of neighbours.entries()) {
    const a = Math.floor(place / degree)
    if (a < b) graph.connect(a, b, model.oneWayMs(a, b) + processingMs, model.oneWayMs(b, a) + processingMs)
  }
  const sources = pick(model.nodes, delaySources, random)
  const meanMs = meanDelayMs(graph, sources)
  const directMs = sources.reduce((sum, source) => sum + meanOneWayFromMs(model, source), 0) / sources.length
  return { meanMs, rdp: meanMs / directMs }
}

/** The greatest number of hops from one of some nodes to any other; of up to 1,024 nodes the diameter. */
export function hopsOf(neighbours: Int32Array, degree: number, random: Random): number {
  return greatestEccentricity(neighbours, degree, pick(neighbours.length / degree, hopSources, random))
}
