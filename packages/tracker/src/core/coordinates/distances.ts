import type { RandomSource } from '../topology/cheapest.ts'
import { coordinateDistanceMs, learnDistance, newCoordinate, type Coordinate } from './coordinate.ts'

export interface DistancesOptions {
  /** Peers of which a node's round-trip times are remembered; the one reported longest ago is forgotten first. */
  readonly maxMeasuredPeers: number
}

/** Reported times of the two ends that differ by more than this factor, and by `disputeMs`, are ignored. */
const disputeFactor = 2
/** Times reported by the two ends that differ by more than this, and by `disputeFactor`, are ignored. */
const disputeMs = 20
/**
 * With few measurements, coordinates may be far off, and pairs that they place too far apart would never be measured. So
 * distances of nodes with few samples are reduced by up to this share, and some links are tried in vain.
 */
const optimism = 0.75
/**
 * How often a node learns from each of its times in a row. Once is too slow: after a minute, nodes of one place would still be
 * placed more than 10 ms apart, and never try each other.
 */
const learningPasses = 4
/** Longer times only show that a node is useless as a neighbour. */
const maxLearntMs = 2_000

/** What a coordinate is learnt from. */
interface Sample {
  readonly other: Coordinate
  readonly rttMs: number
}

interface Place<Id extends string> {
  /** Round-trip times that the node reported, newest last. */
  readonly claimedMs: Map<Id, number>
  readonly coordinate: Coordinate
  /** Peers that its coordinate is based on. */
  samples: number
  /** Its neighbours were chosen from the knowledge of an earlier tracker. */
  takenOver: boolean
}

/**
 * Round-trip times between the nodes of a stream part, including pairs that were never measured.
 *
 * A time counts only when both ends report one, and then the longer: a node can make itself appear farther away than it is,
 * which wins it no neighbour, but not nearer. For the same reason coordinates are computed here, from those times, and not by
 * the nodes.
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
   * Takes a node's measurements, in milliseconds by peer, and repositions it. Returns how many of its times the peer's own
   * contradict. O(`maxMeasuredPeers`).
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

  /** The two could not be connected: their distance is infinite until both measure something, or it is forgotten. */
  failed(a: Id, b: Id): void {
    this.#claim(this.#places.get(a), b, Infinity)
    this.#claim(this.#places.get(b), a, Infinity)
  }

  /** The two were neighbours before this was made. */
  takenOver(a: Id, b: Id): void {
    for (const id of [a, b]) {
      const place = this.#places.get(id)
      if (place !== undefined) place.takenOver = true
    }
  }

  delete(id: Id): void {
    this.#places.delete(id)
  }

  /** Repositions a node by all undisputed measurements. O(`maxMeasuredPeers`). */
  learn(id: Id): void {
    const place = this.#places.get(id)
    if (place === undefined) return
    const samples = this.#samplesOf(id, place)
    for (let pass = 0; pass < learningPasses; pass++)
      for (const { other, rttMs } of samples) learnDistance(place.coordinate, other, rttMs, this.#random)
    place.samples = samples.length
  }

  #samplesOf(id: Id, place: Place<Id>): Sample[] {
    const samples: Sample[] = []
    for (const peer of place.claimedMs.keys()) {
      const rttMs = this.measuredMs(id, peer)
      const other = this.#places.get(peer)?.coordinate
      if (rttMs === undefined || rttMs === Infinity || other === undefined) continue
      if (!this.#isDisputed(id, peer)) samples.push({ other, rttMs: Math.min(rttMs, maxLearntMs) })
    }
    return samples
  }

  /** The time that both have measured; undefined unless both have. */
  measuredMs(a: Id, b: Id): number | undefined {
    const byA = this.#places.get(a)?.claimedMs.get(b)
    const byB = this.#places.get(b)?.claimedMs.get(a)
    return byA === undefined || byB === undefined ? undefined : Math.max(byA, byB)
  }

  /** The measured time, or an optimistic estimate; undefined where nothing is known of one of the two. */
  estimateMs(a: Id, b: Id): number | undefined {
    return this.measuredMs(a, b) ?? this.#betweenCoordinatesMs(a, b, optimism)
  }

  /** The measured time, or the expected one; undefined where nothing is known of one of the two. */
  expectedMs(a: Id, b: Id): number | undefined {
    return this.measuredMs(a, b) ?? this.#betweenCoordinatesMs(a, b, 0)
  }

  #betweenCoordinatesMs(a: Id, b: Id, hope: number): number | undefined {
    const [placeA, placeB] = [this.#places.get(a), this.#places.get(b)]
    if (!placeA?.samples || !placeB?.samples) return undefined
    const doubt = (this.#doubt(placeA) + this.#doubt(placeB)) / 2
    return (1 - hope * doubt) * coordinateDistanceMs(placeA.coordinate, placeB.coordinate)
  }

  /** How uncertain a node's position is, 0 to 1; 0 for one that already has its place, so that nothing far is tried for it. */
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
