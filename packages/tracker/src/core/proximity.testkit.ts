import { seededRandom, type NodeId, type Random } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import { nodeId, partA, statusOf, TrackerStory } from './tracker-core.testkit.ts'

/** One-way delays between places, in milliseconds, with the names of the places. */
export interface DelayTable {
  readonly regions: readonly string[]
  readonly oneWayMs: readonly (readonly number[])[]
}

export interface ProximityWorldOptions {
  /** Spread evenly over the places. */
  readonly nodes: number
  readonly table: DelayTable
  /** One way between a node and its place: uniform from 0 to this. */
  readonly lastMileMs?: number
  readonly seed?: string
  readonly overlay?: 'random' | 'topology-aware'
  readonly degree?: number
  readonly limits?: Partial<TrackerLimits>
}

/** What a node takes to check a message and pass it on, in milliseconds; a ping is answered at once. */
const processingMs = 0.3
/** How far measured round-trip times are off at most, as a share. */
const noise = 0.02
const stepMs = 100
/** After this long a node reports that not all of its neighbours are attached. */
const settleMs = 1_000

interface Place {
  readonly id: NodeId
  readonly region: number
  readonly lastMileMs: number
  wanted: ReadonlySet<NodeId>
  counter: number
  /** Since when it has not reported; undefined when it has. */
  owesSinceMs: number | undefined
}

/** Honest nodes at places with known delays, around a tracker's core. */
export class ProximityWorld {
  story: TrackerStory
  readonly places = new Map<NodeId, Place>()
  /** Neighbours told to nodes that they were not told just before. */
  newNeighbours = 0
  /** What a node says of a round-trip time it measured. */
  claim = (_from: NodeId, _to: NodeId, measuredMs: number): number => measuredMs
  /** By what a node says that it is linked, as a number; by default it says nothing. */
  transport = (_from: NodeId, _to: NodeId): number | undefined => undefined
  readonly #options: Required<Pick<ProximityWorldOptions, 'seed' | 'overlay' | 'degree' | 'limits'>>
  readonly #table: DelayTable
  readonly #random: Random
  #heard = 0

  constructor(options: ProximityWorldOptions) {
    const { nodes, table, lastMileMs = 0, seed = 'world', overlay = 'topology-aware' } = options
    const { degree = 4, limits = {} } = options
    this.#table = table
    this.#random = seededRandom(seed)
    this.#options = { seed, overlay, degree, limits }
    this.story = new TrackerStory(this.#options)
    for (let n = 0; n < nodes; n++) {
      const id = nodeId(n + 1)
      this.places.set(id, {
        id,
        region: n % table.regions.length,
        lastMileMs: this.#random.next() * lastMileMs,
        wanted: new Set(),
        counter: 0,
        owesSinceMs: undefined,
      })
    }
    for (const id of shuffled([...this.places.keys()], this.#random)) this.story.join(id)
  }

  get topology() {
    const topology = this.story.core.streamParts.get(partA)?.topology
    if (topology === undefined) throw new Error('nobody has joined')
    return topology
  }

  /** How many of a node's edges were drawn without regard to distance. */
  randomEdges(id: NodeId): number {
    return [...this.topology.neighbours(id)].filter((other) => !this.topology.isNear(id, other)).length
  }

  run(ms: number): void {
    const end = this.story.now + ms
    while (this.story.now < end) {
      this.#hear()
      this.story.advance(stepMs)
      for (const place of this.places.values()) this.#reportOwed(place)
    }
  }

  leave(id: NodeId): void {
    this.places.delete(id)
    this.story.packet(id, { type: 'leave', streamPartId: partA })
  }

  /** It knows nothing any more, and all connect to it again. */
  restartTracker(): void {
    const { now } = this.story
    this.#heard = 0
    this.story = new TrackerStory(this.#options)
    this.story.now = now
    for (const place of this.places.values()) {
      this.story.connect(place.id)
      this.#report(place)
    }
  }

  oneWayMs(a: NodeId, b: NodeId): number {
    const [placeA, placeB] = [this.#placeOf(a), this.#placeOf(b)]
    const betweenMs = this.#table.oneWayMs[placeA.region]?.[placeB.region] ?? Infinity
    return betweenMs + placeA.lastMileMs + placeB.lastMileMs
  }

  regionOf(id: NodeId): number {
    return this.#placeOf(id).region
  }

  /** The relative delay penalty: the mean delay over the overlay by that of going direct, from some or all nodes to all. */
  rdp(maxSources = 64): number {
    const ids = [...this.places.keys()]
    let overlayMs = 0
    let directMs = 0
    for (const source of shuffled(ids, seededRandom('sources')).slice(0, maxSources)) {
      for (const [target, delayMs] of this.delaysFrom(source)) {
        if (target === source) continue
        overlayMs += delayMs
        directMs += this.oneWayMs(source, target)
      }
    }
    return overlayMs / directMs
  }

  /** What the tracker was told of an edge: the mean of both ends'. */
  reportedRttMs(a: string, b: string): number | null {
    const part = this.story.core.streamParts.get(partA)
    return part === undefined ? null : part.reportedRttMs(a as NodeId, b as NodeId)
  }

  /** When a flood from `source` arrives at each node, in milliseconds. */
  delaysFrom(source: NodeId): Map<NodeId, number> {
    const arrivals = new Map([[source, 0]])
    let wave = new Set([source])
    // Rounds of relaxing edges until nothing arrives sooner.
    while (wave.size > 0) {
      const next = new Set<NodeId>()
      for (const from of wave) {
        for (const to of this.topology.neighbours(from)) {
          const atMs = (arrivals.get(from) ?? 0) + this.oneWayMs(from, to) + processingMs
          if (atMs >= (arrivals.get(to) ?? Infinity)) continue
          arrivals.set(to, atMs)
          next.add(to)
        }
      }
      wave = next
    }
    return arrivals
  }

  #placeOf(id: NodeId): Place {
    const place = this.places.get(id)
    if (place === undefined) throw new Error(`unknown node ${id}`)
    return place
  }

  #hear(): void {
    const { effects, now } = this.story
    while (this.#heard < effects.length) {
      const effect = effects[this.#heard++]
      if (effect?.type !== 'send' || effect.packet.type !== 'instruction') continue
      const place = this.places.get(effect.to)
      const { counter, neighbours } = effect.packet
      if (place === undefined || counter <= place.counter) continue
      const wanted = new Set(neighbours.map((neighbour) => neighbour.nodeId))
      this.newNeighbours += [...wanted].filter((id) => !place.wanted.has(id)).length
      place.wanted = wanted
      place.counter = counter
      place.owesSinceMs = now
    }
    this.#heard = effects.length = 0
  }

  #reportOwed(place: Place): void {
    if (place.owesSinceMs === undefined) return
    const complete = this.#attached(place).length === place.wanted.size
    if (!complete && this.story.now - place.owesSinceMs < settleMs) return
    place.owesSinceMs = complete ? undefined : this.story.now
    this.#report(place)
  }

  #attached(place: Place): NodeId[] {
    return [...place.wanted].filter((id) => this.places.get(id)?.wanted.has(place.id))
  }

  #report(place: Place): void {
    const status = statusOf(partA, place.counter)
    const neighbours = this.#attached(place).map((id) => {
      const transport = this.transport(place.id, id)
      const rttMs = this.#measureMs(place.id, id)
      return { nodeId: id, rttMs, ...(transport !== undefined && { transport }) }
    })
    this.story.packet(place.id, { ...status, neighbours })
  }

  #measureMs(from: NodeId, to: NodeId): number {
    const rttMs = this.oneWayMs(from, to) + this.oneWayMs(to, from)
    return this.claim(from, to, rttMs * (1 + noise * (2 * this.#random.next() - 1)))
  }
}

export function shuffled<T>(items: readonly T[], random: Pick<Random, 'next'>): T[] {
  const order = [...items]
  for (const [i, item] of order.entries()) {
    const j = Math.floor(random.next() * (i + 1))
    order[i] = order[j] ?? item
    order[j] = item
  }
  return order
}

/** Places at random on a square that light in fibre crosses in 80 ms: regions of a synthetic world. */
export function squareTable(places: number, seed = 'square'): DelayTable {
  const random = seededRandom(seed)
  const points = Array.from({ length: places }, () => [80 * random.next(), 80 * random.next()] as const)
  return {
    regions: points.map((_, i) => `place ${i}`),
    oneWayMs: points.map(([x, y]) => points.map(([u, v]) => 0.1 + Math.hypot(x - u, y - v))),
  }
}
