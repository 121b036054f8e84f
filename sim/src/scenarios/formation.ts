import { lightParts } from '@runnel/network/light'
import type { NodeId, Random } from '@runnel/protocol'
import { FloodPrediction, predictionLimits, type FloodDelays } from '@runnel/tracker'
import type { Overlay } from '../experiments/experiment.ts'
import { meanDelayMs } from '../graphs/shortest-delays.ts'
import { WeightedGraph } from '../graphs/weighted-graph.ts'
import type { LatencyModel } from '../latency/latency-model.ts'
import { noArchive } from '../world/no-archive.ts'
import { World, type SimNode } from '../world/world.ts'
import { OverlayWatch, type WatchReport } from './overlay-watch.ts'
import { Settling } from './settling.ts'

export interface FormationOptions {
  readonly seed: string
  readonly degree: number
  readonly overlay: Overlay
  readonly model: LatencyModel
  /** See `WorldOptions`. Default 0. */
  readonly jitterMs?: number
  /** See `WorldOptions`. */
  readonly thinFloods?: boolean
  /** Nodes serve light ones. Default false. */
  readonly servesGuests?: boolean
}

/** What a node needs to take a frame and pass it on, in milliseconds: a round trip has it twice. */
export const processingMs = 0.3
/** All nodes join within this time, evenly. */
const joiningMs = 10_000
/** What the tracker wants is looked at so often: it improves an overlay at these intervals. */
const lookMs = 250
/** The mean delay is sampled so often. */
const sampleMs = 1_000
/** An overlay is measured in its current state after this much virtual time. */
const maxFormingMs = 900_000
/** Once it has settled, so much longer until no edge is just being replaced: in large ones there is always some. */
const maxReplacingMs = 30_000
/** Nodes whose delays to all others are looked at in a sample. */
const sampledSources = 16

/** What was seen of an overlay while it formed: the attached neighbours at every change, the wanted ones four times a second. */
export interface FormationWatch extends WatchReport {
  /** Checks of the wanted overlay, and how many found it not connected or not of exact degree. */
  readonly looks: number
  readonly wrongLooks: number
}

/** Nodes that join a stream part, until their overlay has settled. */
export class Formation {
  readonly world: World
  readonly nodes: SimNode[] = []
  readonly #options: FormationOptions
  readonly #indexes: Map<NodeId, number>
  readonly #watch: OverlayWatch
  readonly #settling: Settling
  readonly #sources: readonly number[]
  #formationS = 0
  #looks = 0
  #wrongLooks = 0

  private constructor(options: FormationOptions, world: World, indexes: Map<NodeId, number>) {
    this.#options = options
    this.world = world
    this.#indexes = indexes
    const { nodes } = options.model
    this.#watch = new OverlayWatch(nodes)
    this.#settling = new Settling(options.overlay)
    this.#sources = pick(nodes, sampledSources, world.random('sampled sources'))
  }

  /** A world of nodes that run as in production, joined, in an overlay that has settled. */
  static async run(options: FormationOptions, onProgress: (text: string) => void): Promise<Formation> {
    const { seed, degree, overlay, model, jitterMs = 0, thinFloods = true } = options
    const indexes = new Map<NodeId, number>()
    // The tracker is where the first node is.
    const placeOf = (nodeId: NodeId): number => indexes.get(nodeId) ?? 0
    const world = await World.create({
      seed,
      degree,
      overlay,
      jitterMs,
      thinFloods,
      lossRate: () => 0,
      onPassing: (second) => onProgress(`second ${second}`),
      latencyMs: (from, to) => model.oneWayMs(placeOf(from), placeOf(to)) + processingMs,
    })
    const formation = new Formation(options, world, indexes)
    await formation.#join()
    await formation.#settle(onProgress)
    return formation
  }

  /** Somebody who is not of the overlay is at that place of the model. */
  place(nodeId: NodeId, index: number): void {
    this.#indexes.set(nodeId, index)
  }

  indexOf(nodeId: NodeId): number | undefined {
    return this.#indexes.get(nodeId)
  }

  /** As `Settling` says. */
  get convergedAfterS(): number | undefined {
    return this.#settling.convergedAfterS
  }

  /** Virtual seconds from the last join that were waited for the overlay to settle. */
  get formationS(): number {
    return this.#formationS
  }

  /** What was seen from the first moment after the last join at which every degree was right. */
  get watched(): FormationWatch {
    const report = this.#watch.report(this.world.clock.monotonicMs())
    return { ...report, looks: this.#looks, wrongLooks: this.#wrongLooks }
  }

  /** Neighbours that a node attached to and did not keep, on average. */
  get edgeChangesPerNode(): number {
    const kept = this.attachedDegrees.reduce((sum, degree) => sum + degree, 0)
    return (this.#watch.attached - kept) / this.nodes.length
  }

  /** Neighbours that the tracker wants each node to have. */
  get wantedDegrees(): number[] {
    const topology = this.world.tracked?.topology
    return this.nodes.map(({ nodeId }) => topology?.neighbours(nodeId).size ?? 0)
  }

  /** Attached neighbours of each node: while an edge is replaced it has one more, as the new one is there before the old one goes. */
  get attachedDegrees(): number[] {
    return this.#watch.neighbours.map(({ size }) => size)
  }

  /** Links between attached neighbours with their true delays, processing included. */
  get trueDelays(): WeightedGraph {
    const { model } = this.#options
    const graph = new WeightedGraph(model.nodes)
    this.#watch.neighbours.forEach((others, a) => {
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
      const rttMs = part.reportedRttMs(a, b)
      const [from, to] = [this.#indexes.get(a), this.#indexes.get(b)]
      if (rttMs !== null && from !== undefined && to !== undefined) graph.connect(from, to, rttMs / 2)
    }
    return graph
  }

  /** As the tracker foretells it over HTTP. Its pings take the processing of a hop as well, so nothing is added for it. */
  get predicted(): FloodDelays | undefined {
    const part = this.world.tracked
    if (part === undefined) return undefined
    const { topology } = part
    const rttMs = (a: NodeId, b: NodeId): number | null => part.reportedRttMs(a, b)
    const prediction = new FloodPrediction(
      { nodes: topology.nodes(), edges: topology.edges(), rttMs },
      { processingMs: 0, ...predictionLimits },
      { random: this.world.random('prediction') },
    )
    while (prediction.step());
    return prediction.delays
  }

  async #join(): Promise<void> {
    const { model, servesGuests = false } = this.#options
    const { nodes } = model
    const light = servesGuests ? { parts: lightParts, servesGuests } : undefined
    for (let index = 0; index < nodes; index++) {
      await this.world.advanceTo((joiningMs * (index + 1)) / nodes)
      // Its place has to be known before it dials.
      const name = `node ${index}`
      this.#indexes.set(this.world.identity(name).nodeId, index)
      const simNode = await this.world.startNode(name, noArchive, undefined, light)
      simNode.node.join(this.world.streamPartId)
      this.nodes.push(simNode)
      simNode.node.on('neighbours', (_, neighbours) => this.#changed(index, neighbours))
    }
  }

  #changed(index: number, neighbours: readonly NodeId[]): void {
    const others = neighbours.flatMap((nodeId) => this.#indexes.get(nodeId) ?? [])
    this.#watch.changed(index, others, this.world.clock.monotonicMs())
  }

  async #settle(onProgress: (text: string) => void): Promise<void> {
    let untilMs = maxFormingMs
    for (let sinceMs = lookMs; sinceMs <= untilMs; sinceMs += lookMs) {
      await this.world.advanceTo(joiningMs + sinceMs)
      this.#formationS = sinceMs / 1_000
      const complete = this.#isComplete(this.attachedDegrees)
      if (complete) this.#watch.begin(joiningMs + sinceMs)
      if (this.#watch.hasBegun) this.#look()
      if (this.#settling.isSettled && !this.#isReplacing) return
      if (sinceMs % sampleMs !== 0) continue
      const delayMs = meanDelayMs(this.trueDelays, this.#sources)
      this.#settling.add({ atS: sinceMs / 1_000, meanDelayMs: delayMs, complete })
      onProgress(`${sinceMs / 1_000} s after the last join: ${delayMs.toFixed(1)} ms`)
      if (this.#settling.isSettled) untilMs = Math.min(untilMs, sinceMs + maxReplacingMs)
    }
  }

  /** Whether some node has more neighbours attached than the tracker wants. */
  get #isReplacing(): boolean {
    const sum = (degrees: readonly number[]): number => degrees.reduce((total, degree) => total + degree, 0)
    return sum(this.attachedDegrees) > sum(this.wantedDegrees)
  }

  /** Whether what the tracker wants is an overlay of exact degree, in one piece. */
  #look(): void {
    const topology = this.world.tracked?.topology
    if (topology === undefined) return
    const wanted = new Map([...topology.nodes()].map((id) => [id, topology.neighbours(id)]))
    const [first] = wanted.keys()
    const reached = new Set(first === undefined ? [] : [first])
    for (const id of reached) for (const other of wanted.get(id) ?? []) reached.add(other)
    this.#looks++
    if (reached.size !== this.nodes.length || !this.#isComplete(this.wantedDegrees)) this.#wrongLooks++
  }

  /** Every node has its degree; one has one less where the product is odd. In a tree: as many neighbours as the tracker wants. */
  #isComplete(degrees: readonly number[]): boolean {
    const { degree, model, overlay } = this.#options
    if (overlay === 'tree')
      return this.wantedDegrees.every((wanted, i) => wanted > 0 && (degrees[i] ?? 0) >= wanted)
    const wanted = Math.min(degree, model.nodes - 1)
    const odd = (model.nodes * wanted) % 2
    const missing = degrees.reduce((sum, has) => sum + Math.max(0, wanted - has), 0)
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
