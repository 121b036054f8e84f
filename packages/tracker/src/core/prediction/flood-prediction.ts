import { randomPosition, type RandomSource } from '../topology/cheapest.ts'
import { shortestPaths, type WeightedGraph } from './shortest-paths.ts'

/** The input of a prediction: an overlay and the round-trip times its nodes report. */
export interface MeasuredOverlay<Id extends string> {
  readonly nodes: Iterable<Id>
  /** Every edge once. */
  readonly edges: Iterable<readonly [Id, Id]>
  /** Milliseconds; undefined or null where nothing was measured. */
  rttMs(a: Id, b: Id): number | null | undefined
}

export interface FloodPredictionOptions {
  /** How long a node takes to check a message and forward it, in milliseconds. */
  readonly processingMs: number
  /** Nodes from which floods are followed: drawn at random where there are more. */
  readonly maxSources: number
  /** Delays computed in all, whatever the overlay's size; at least one source is followed. */
  readonly maxDelays: number
}

/** How long messages take from any node to any other, in milliseconds. */
export interface FloodDelays {
  readonly meanMs: number
  /** 99 of 100 arrive sooner. */
  readonly p99Ms: number
  /** Nodes from which floods were followed. */
  readonly sources: number
  readonly nodes: number
  readonly edges: number
  /** Edges whose round-trip times are known; the others count as their mean. */
  readonly measuredEdges: number
}

/**
 * Predicts how long flooding takes. A flood arrives by the fastest path, so its delay is that of the shortest path: half a
 * round-trip time for each edge and `processingMs` for each node that receives it (thesis, section 5.3.4).
 *
 * The overlay is copied at the start; each `step` follows one flood, so that the caller can do other work in between.
 */
export class FloodPrediction<Id extends string> {
  readonly #graph: WeightedGraph
  readonly #sources: readonly number[]
  readonly #edges: number
  readonly #measuredEdges: number
  readonly #delaysMs: Float64Array
  /** The sum and number of the delays to each node. */
  readonly #sumsMs: Float64Array
  readonly #counts: Uint32Array
  #followed = 0
  #arrivals = 0

  constructor(
    overlay: MeasuredOverlay<Id>,
    options: FloodPredictionOptions,
    { random }: { readonly random: RandomSource },
  ) {
    const numbers = new Map([...overlay.nodes].map((id, number) => [id, number]))
    const edges = [...overlay.edges].map(([a, b]) => ({
      a: numbers.get(a) ?? 0,
      b: numbers.get(b) ?? 0,
      rttMs: overlay.rttMs(a, b) ?? undefined,
    }))
    const known = edges.flatMap(({ rttMs }) => (rttMs === undefined ? [] : [rttMs]))
    const meanRttMs = known.reduce((sum, rttMs) => sum + rttMs, 0) / Math.max(1, known.length)
    const { size } = numbers
    const neighbours = Array.from({ length: size }, (): number[] => [])
    const costs = Array.from({ length: size }, (): number[] => [])
    for (const { a, b, rttMs = meanRttMs } of edges) {
      const cost = rttMs / 2 + options.processingMs
      neighbours[a]?.push(b)
      costs[a]?.push(cost)
      neighbours[b]?.push(a)
      costs[b]?.push(cost)
    }
    const wanted = Math.max(
      1,
      Math.min(options.maxSources, Math.floor(options.maxDelays / Math.max(1, size))),
    )
    this.#graph = { neighbours, costs }
    this.#edges = edges.length
    this.#measuredEdges = known.length
    this.#sources = sample(size, wanted, random)
    this.#delaysMs = new Float64Array(this.#sources.length * Math.max(0, size - 1))
    this.#sumsMs = new Float64Array(size)
    this.#counts = new Uint32Array(size)
  }

  /** Follows the flood of one source; false when there was none left. */
  step(): boolean {
    const source = this.#sources[this.#followed]
    if (source === undefined) return false
    this.#followed++
    for (const [node, delayMs] of shortestPaths(this.#graph, source).entries()) {
      if (node === source || delayMs === Infinity) continue
      this.#delaysMs[this.#arrivals++] = delayMs
      this.#sumsMs[node] = (this.#sumsMs[node] ?? 0) + delayMs
      this.#counts[node] = (this.#counts[node] ?? 0) + 1
    }
    return true
  }

  /**
   * The mean over all pairs. Delays are the same in both directions, so comparing those to the sources with those to all nodes
   * shows how remote the sources are, and corrects the mean of their floods by that.
   */
  get #meanMs(): number {
    const toSources = this.#meanDelayToMs(this.#sources.slice(0, this.#followed))
    const toAll = this.#meanDelayToMs(this.#sumsMs.keys()) ?? NaN
    return toSources === undefined ? toAll : 2 * toAll - toSources
  }

  /** Undefined when no flood has reached any of them. */
  #meanDelayToMs(nodes: Iterable<number>): number | undefined {
    let [sumMs, reached] = [0, 0]
    for (const node of nodes) {
      const count = this.#counts[node] ?? 0
      if (count === 0) continue
      sumMs += (this.#sumsMs[node] ?? 0) / count
      reached++
    }
    return reached === 0 ? undefined : sumMs / reached
  }

  /** The result of the floods followed so far; undefined when nothing is known: no arrival, or no edge measured. */
  get delays(): FloodDelays | undefined {
    if (this.#arrivals === 0 || this.#measuredEdges === 0) return undefined
    const sorted = this.#delaysMs.slice(0, this.#arrivals).sort()
    return {
      meanMs: this.#meanMs,
      p99Ms: sorted[Math.ceil(0.99 * sorted.length) - 1] ?? NaN,
      sources: this.#followed,
      nodes: this.#graph.neighbours.length,
      edges: this.#edges,
      measuredEdges: this.#measuredEdges,
    }
  }
}

/** `count` of the numbers from 0 to `size` − 1, or all, in random order: the first steps of a Fisher–Yates shuffle. */
function sample(size: number, count: number, random: RandomSource): number[] {
  const numbers = Array.from({ length: size }, (_, number) => number)
  const taken = Math.min(count, size)
  for (let i = 0; i < taken; i++) {
    const other = i + randomPosition(size - i, random)
    const [here, there] = [numbers[i] ?? 0, numbers[other] ?? 0]
    numbers[i] = there
    numbers[other] = here
  }
  return numbers.slice(0, taken)
}
