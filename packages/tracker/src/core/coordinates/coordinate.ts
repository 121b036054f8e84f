import type { RandomSource } from '../topology/cheapest.ts'

/**
 * A node's position in a space in which distances are round-trip times: Dabek et al., "Vivaldi: A Decentralized Network
 * Coordinate System" (SIGCOMM 2004), with the height of section 5.4 for the path from a node to the network's core.
 */
export interface Coordinate {
  /** Milliseconds along each axis. */
  readonly position: number[]
  /** Milliseconds, ≥ `leastHeightMs`: every distance includes the heights of both nodes. */
  heightMs: number
  /** Expected relative error of distances; at most `worstError`. */
  error: number
}

/**
 * Number of dimensions. A node has few neighbours to be placed by: with more dimensions than neighbours, its measurements
 * hardly determine its position.
 */
const dimensions = 3
/** Initial and maximum expected error. */
const worstError = 1.5
/** Minimum height, so that a height can grow again. */
const leastHeightMs = 0.1
/** The paper's c_e: the weight of a new sample in the expected error. */
const errorGain = 0.25
/** The paper's c_c: the share of an error that one sample corrects. */
const positionGain = 0.25
/** Shorter times are within measurement noise. */
const leastRttMs = 0.1
/** Positions nearer than this define no direction to push in. */
const leastSeparationMs = 1e-6

export function newCoordinate(): Coordinate {
  return { position: new Array<number>(dimensions).fill(0), heightMs: leastHeightMs, error: worstError }
}

/** The expected round-trip time between the two, in milliseconds. Symmetric. */
export function coordinateDistanceMs(a: Coordinate, b: Coordinate): number {
  return separationMs(a, b) + a.heightMs + b.heightMs
}

/**
 * Moves `a`, as if on a spring, towards where its distance from `b` is the measured one; further when `a` is less certain than
 * `b`. `random` gives a direction when the two are in the same place.
 *
 * Its height takes the heights' share of the distance. By the share of their separation, as in Serf, it would overshoot between
 * nodes of one place by many times the error.
 */
export function learnDistance(a: Coordinate, b: Coordinate, rttMs: number, random: RandomSource): void {
  const measuredMs = Math.max(leastRttMs, rttMs)
  const separation = separationMs(a, b)
  const predictedMs = separation + a.heightMs + b.heightMs
  const weight = a.error / Math.max(a.error + b.error, Number.MIN_VALUE)
  const sampleError = Math.abs(predictedMs - measuredMs) / measuredMs
  const errorWeight = errorGain * weight
  a.error = Math.min(worstError, sampleError * errorWeight + a.error * (1 - errorWeight))
  const forceMs = positionGain * weight * (measuredMs - predictedMs)
  if (separation > leastSeparationMs) {
    for (const [axis, own] of a.position.entries())
      a.position[axis] = own + (forceMs * (own - (b.position[axis] ?? 0))) / separation
    const heightsShare = (a.heightMs + b.heightMs) / predictedMs
    a.heightMs = Math.max(leastHeightMs, a.heightMs + forceMs * heightsShare)
  } else {
    const direction = a.position.map(() => random.next() - 0.5)
    const length = Math.max(Math.hypot(...direction), leastSeparationMs)
    for (const [axis, own] of a.position.entries())
      a.position[axis] = own + (forceMs * (direction[axis] ?? 0)) / length
  }
}

function separationMs(a: Coordinate, b: Coordinate): number {
  let sum = 0
  for (let axis = 0; axis < dimensions; axis++)
    sum += ((a.position[axis] ?? 0) - (b.position[axis] ?? 0)) ** 2
  return Math.sqrt(sum)
}
