import type { NodeId, Random } from '@runnel/protocol'
import type { Overlay } from '../experiments/experiment.ts'
import { shortestDelaysMs } from '../graphs/shortest-delays.ts'
import { WeightedGraph } from '../graphs/weighted-graph.ts'
import { meanOfOthers } from '../measures/statistics.ts'
import type { LatencyModel } from '../latency/latency-model.ts'
import { World, type SimNode } from '../world/world.ts'

export interface FormationOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: Overlay
  readonly model: LatencyModel
}

/** What a node needs to take a frame and pass it on, in milliseconds: a round trip has it twice. */
export const processingMs = 0.3
/** All nodes join within this time, evenly. */
const joiningMs = 10_000
/** The overlay is looked at so often while it forms. */
const sampleMs = 1_000
/** It has formed when its mean delay has changed less than this part … */
const steadyShare = 0.005
/** … in so many samples, … */
const steadySamples = 30
/** … or when this much virtual time has passed. */
const maxFormingMs = 900_000
/** Nodes whose delays to all others are looked at in a sample. */
const sampledSources = 16
/** Converged: no further than this from the mean delay at the end. */
const convergedShare = 0.02

const noArchive = { fill: () => Promise.resolve() }

interface Sample {
  readonly atMs: number
  readonly meanDelayMs: number
  readonly complete: boolean
}

/** Nodes that join a stream part, until their overlay has settled. */
export class Formation {
  readonly world: World
  readonly nodes: SimNode[] = []
  readonly #options: FormationOptions
  readonly #indexes: Map<NodeId, number>
  readonly #neighbours: ReadonlySet<number>[]
  readonly #samples: Sample[] = []
  readonly #sources: readonly number[]
  #attached = 0

  private constructor(options: FormationOptions, world: World, indexes: Map<NodeId, number>) {
    this.#options = options
    this.world = world
    this.#indexes = indexes
    const { nodes } = options.model
    this.#neighbours = Array.from({ length: nodes }, () => new Set<number>())
    this.#sources = pick(nodes, sampledSources, world.random('sampled sources'))
  }

  /** A world of nodes that run as in production, joined, in an overlay that has settled. */
  static async run(options: FormationOptions, onProgress: (text: string) => void): Promise<Formation> {
    const { seed, degree, overlay, model } = options
    const indexes = new Map<NodeId, number>()
    // The tracker is where the first node is.
    const placeOf = (nodeId: NodeId): number => indexes.get(nodeId) ?? 0
    const world = await World.create({
      seed,
      degree,
      overlay,
      jitterMs: 0,
      lossRate: () => 0,
      latencyMs: (from, to) => model.oneWayMs(placeOf(from), placeOf(to)) + processingMs,
    })
    const formation = new Formation(options, world, indexes)
    await formation.#join(onProgress)
    await formation.#settle(onProgress)
    return formation
  }

  indexOf(nodeId: NodeId): number | undefined {
    return this.#indexes.get(nodeId)
  }

  /** Virtual seconds from the last join until every degree was right and the mean delay near what it was in the end. */
  get convergedAfterS(): number | undefined {
    const last = this.#samples.at(-1)
    if (last === undefined || !last.complete) return undefined
    const far = this.#samples.findLastIndex(
      ({ meanDelayMs, complete }) =>
        !complete || Math.abs(meanDelayMs / last.meanDelayMs - 1) > convergedShare,
    )
    return ((this.#samples[far + 1] ?? last).atMs - joiningMs) / 1000
  }

  /** Neighbours that a node attached to and did not keep, on average. */
  get edgeChangesPerNode(): number {
    const kept = this.degrees.reduce((sum, degree) => sum + degree, 0)
    return (this.#attached - kept) / this.nodes.length
  }

  /** Attached neighbours of each node. */
  get degrees(): number[] {
    return this.#neighbours.map(({ size }) => size)
  }

  /** Links between attached neighbours with their true delays, processing included. */
  get trueDelays(): WeightedGraph {
    const { model } = this.#options
    const graph = new WeightedGraph(model.nodes)
    this.#neighbours.forEach((others, a) => {
      for (const b of others)
        if (a < b)
          graph.connect(a, b, model.oneWayMs(a, b) + processingMs, model.oneWayMs(b, a) + processingMs)
    })
    return graph
  }

  /** The overlay as the tracker knows it, half of the reported round-trip times as delays. */
  get reportedDelays(): WeightedGraph {
    const graph = new WeightedGraph(this.#options.model.nodes)
    const part = this.world.tracked
    if (part === undefined) return graph
    for (const [a, b] of part.topology.edges()) {
      const reports = [part.members.get(a)?.rttsMs.get(b), part.members.get(b)?.rttsMs.get(a)]
      const known = reports.filter((rttMs) => rttMs !== undefined)
      const [from, to] = [this.#indexes.get(a), this.#indexes.get(b)]
      if (known.length === 0 || from === undefined || to === undefined) continue
      graph.connect(from, to, known.reduce((sum, rttMs) => sum + rttMs) / known.length / 2)
    }
    return graph
  }

  async #join(onProgress: (text: string) => void): Promise<void> {
    const { nodes } = this.#options.model
    for (let index = 0; index < nodes; index++) {
      await this.world.advanceTo((joiningMs * (index + 1)) / nodes)
      // Its place has to be known before it dials.
      const name = `node ${index}`
      this.#indexes.set(this.world.identity(name).nodeId, index)
      const simNode = await this.world.addNode(name, noArchive)
      this.nodes.push(simNode)
      simNode.node.on('neighbours', (_, neighbours) => this.#changed(index, neighbours))
      if (index % 100 === 0) onProgress(`${index} of ${nodes} nodes joined`)
    }
  }

  #changed(index: number, neighbours: readonly NodeId[]): void {
    const before = this.#neighbours[index]
    const now = new Set(neighbours.flatMap((nodeId) => this.#indexes.get(nodeId) ?? []))
    for (const other of now) if (!before?.has(other)) this.#attached++
    this.#neighbours[index] = now
  }

  async #settle(onProgress: (text: string) => void): Promise<void> {
    for (let atMs = joiningMs + sampleMs; atMs <= joiningMs + maxFormingMs; atMs += sampleMs) {
      await this.world.advanceTo(atMs)
      const sample = { atMs, meanDelayMs: this.#meanDelayMs(), complete: this.#isComplete() }
      this.#samples.push(sample)
      onProgress(`${(atMs - joiningMs) / 1000} s after the last join: ${sample.meanDelayMs.toFixed(1)} ms`)
      if (this.#isSteady(sample)) return
    }
  }

  #isSteady({ meanDelayMs, complete }: Sample): boolean {
    const earlier = this.#samples.at(-1 - steadySamples)
    return complete && earlier !== undefined && Math.abs(meanDelayMs / earlier.meanDelayMs - 1) < steadyShare
  }

  #meanDelayMs(): number {
    const graph = this.trueDelays
    const meansMs = this.#sources.map((source) => meanOfOthers(shortestDelaysMs(graph, source)))
    return meansMs.reduce((sum, meanMs) => sum + meanMs, 0) / meansMs.length
  }

  /** Every node has its degree; one has one less where the product is odd. */
  #isComplete(): boolean {
    const { degree, model } = this.#options
    const wanted = Math.min(degree, model.nodes - 1)
    const odd = (model.nodes * wanted) % 2
    const missing = this.degrees.reduce((sum, has) => sum + Math.max(0, wanted - has), 0)
    return missing <= odd
  }
}

/** So many different numbers below `below`, in random order; all when there are fewer. */
export function pick(below: number, count: number, random: Random): number[] {
  const numbers = Array.from({ length: below }, (_, i) => i)
  const picked: number[] = []
  while (picked.length < Math.min(count, below)) {
    const [number] = numbers.splice(Math.floor(random.next() * numbers.length), 1)
    if (number !== undefined) picked.push(number)
  }
  return picked
}
