import type { RandomSource } from '../topology/cheapest.ts'
import { coordinateDistanceMs, learnDistance, newCoordinate, type Coordinate } from './coordinate.ts'

export interface DistancesOptions {
  /** Peers of which a node's round-trip times are remembered; the one reported longest ago is forgotten first. */
  readonly maxMeasuredPeers: number
}

/** Times that the two ends report and that differ by more than this factor, and by `disputeMs`, teach nothing. */
const disputeFactor = 2
/** Times that the two ends report and that differ by more than this, and by `disputeFactor`, teach nothing. */
const disputeMs = 20
/**
 * Where little is measured, coordinates may be far off, and what they say is too far nobody would ever measure. So the
 * distances of nodes with few samples are taken to be shorter by up to this share, which has some links tried in vain.
 */
const optimism = 0.75
/** Longer times teach nothing but that a node is of no use as a neighbour. */
const maxLearntMs = 2_000

interface Place<Id extends string> {
  /** What the node says it measured, newest last. */
  readonly claimedMs: Map<Id, number>
  readonly coordinate: Coordinate
  /** Peers its coordinate rests on. */
  samples: number
  /** Its neighbours were chosen by what an earlier tracker knew. */
  takenOver: boolean
}

/**
 * Round-trip times between the nodes of a stream part, those nobody has measured too.
 *
 * A time counts only when both ends report one, and then the longer: a node can make itself look farther away than it
 * is, which brings it no neighbour, but not nearer. For the same reason coordinates are worked out here, from those
 * times, and not asked of the nodes.
 */
export class Distances<Id extends string> {
  readonly #maxMeasuredPeers: number
  readonly #random: RandomSource
  readonly #places = new Map<Id, Place<Id>>()

  constructor({ maxMeasuredPeers }: DistancesOptions, { random }: { readonly random: RandomSource }) {
    this.#maxMeasuredPeers = maxMeasuredPeers
    this.#random = random
  }

  get size(): number {
    return this.#places.size
  }

  /**
   * Takes over what a node has measured, in milliseconds by peer, and places it anew. Returns how many of its times the
   * peer's own contradict. O(`maxMeasuredPeers`).
   */
  report(id: Id, rttsMs: ReadonlyMap<Id, number>): number {
    const place = this.#places.get(id) ?? newPlace<Id>()
    this.#places.set(id, place)
    let disputed = 0
    for (const [peer, rttMs] of rttsMs) {
      this.#claim(place, peer, rttMs)
      if (this.#isDisputed(id, peer)) disputed++
    }
    this.learn(id)
    return disputed
  }

  /** The two could not be connected: they are infinitely far apart until both measure something, or it is forgotten. */
  failed(a: Id, b: Id): void {
    this.#claim(this.#places.get(a), b, Infinity)
    this.#claim(this.#places.get(b), a, Infinity)
  }

  /** The two are neighbours since before this was made. */
  takenOver(a: Id, b: Id): void {
    for (const id of [a, b]) {
      const place = this.#places.get(id)
      if (place !== undefined) place.takenOver = true
    }
  }

  delete(id: Id): void {
    this.#places.delete(id)
  }

  /** Places a node anew by all that is known of it and not in dispute. O(`maxMeasuredPeers`). */
  learn(id: Id): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    let samples = 0
    for (const peer of place.claimedMs.keys()) {
      const rttMs = this.measuredMs(id, peer)
      const other = this.#places.get(peer)
      if (rttMs === undefined || rttMs === Infinity || other === undefined || this.#isDisputed(id, peer))
        continue
      learnDistance(place.coordinate, other.coordinate, Math.min(rttMs, maxLearntMs), this.#random)
      samples++
    }
    place.samples = samples
  }

  /** What both have measured; undefined unless both have. */
  measuredMs(a: Id, b: Id): number | undefined {
    const byA = this.#places.get(a)?.claimedMs.get(b)
    const byB = this.#places.get(b)?.claimedMs.get(a)
    return byA === undefined || byB === undefined ? undefined : Math.max(byA, byB)
  }

  /** What was measured, or else what is to be hoped for; undefined where nothing is known of one of the two. */
  estimateMs(a: Id, b: Id): number | undefined {
    return this.measuredMs(a, b) ?? this.#betweenCoordinatesMs(a, b, optimism)
  }

  /** What was measured, or else what is to be expected; undefined where nothing is known of one of the two. */
  expectedMs(a: Id, b: Id): number | undefined {
    return this.measuredMs(a, b) ?? this.#betweenCoordinatesMs(a, b, 0)
  }

  #betweenCoordinatesMs(a: Id, b: Id, hope: number): number | undefined {
    const [placeA, placeB] = [this.#places.get(a), this.#places.get(b)]
    if (!placeA?.samples || !placeB?.samples) return undefined
    const doubt = (this.#doubt(placeA) + this.#doubt(placeB)) / 2
    return (1 - hope * doubt) * coordinateDistanceMs(placeA.coordinate, placeB.coordinate)
  }

  /** How little is known of where a node is, 0 to 1; of one that is in its place already nobody need try what is far. */
  #doubt({ takenOver, samples }: Place<Id>): number {
    return takenOver ? 0 : 1 - samples / this.#maxMeasuredPeers
  }

  #claim(place: Place<Id> | undefined, peer: Id, rttMs: number): void {
    if (place === undefined) return
    const { claimedMs } = place
    claimedMs.delete(peer)
    claimedMs.set(peer, rttMs)
    if (claimedMs.size <= this.#maxMeasuredPeers) return
    for (const oldest of claimedMs.keys()) {
      claimedMs.delete(oldest)
      return
    }
  }

  #isDisputed(a: Id, b: Id): boolean {
    const byA = this.#places.get(a)?.claimedMs.get(b)
    const byB = this.#places.get(b)?.claimedMs.get(a)
    if (byA === undefined || byB === undefined) return false
    const [shorterMs, longerMs] = byA < byB ? [byA, byB] : [byB, byA]
    return longerMs > disputeFactor * shorterMs && longerMs - shorterMs > disputeMs
  }
}

function newPlace<Id extends string>(): Place<Id> {
  return { claimedMs: new Map(), coordinate: newCoordinate(), samples: 0, takenOver: false }
}
