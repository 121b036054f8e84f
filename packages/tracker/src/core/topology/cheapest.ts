/** Uniform numbers in [0, 1). */
export interface RandomSource {
  next(): number
}

export interface Choice<T> {
  readonly value: T
  readonly cost: number
}

/** Random draws before the candidates are looked at one after the other. */
const maxRandomTries = 32
/** Candidates looked at one after the other in the hope of a cheaper one, once there is one that will do. */
const maxScan = 1024
/** What costs less than this is not worth a scan: it is not that an edge cannot be had. */
const worthScan = 1

/**
 * A random one of the candidates at positions 0 … count − 1 with cost 0; if none is met, the cheapest that was met;
 * `undefined` only if every candidate costs Infinity (which means: impossible).
 */
export function cheapest<T>(
  count: number,
  candidate: (position: number) => T,
  cost: (value: T) => number,
  random: RandomSource,
): Choice<T> | undefined {
  const tries = Math.min(maxRandomTries, 2 * count)
  const start = randomPosition(count, random)
  let best: Choice<T> | undefined
  for (let step = 0; step < tries + count; step++) {
    if (best !== undefined && step >= tries + (best.cost < worthScan ? 0 : maxScan)) break
    const value = candidate(step < tries ? randomPosition(count, random) : (start + step) % count)
    const price = cost(value)
    if (price < (best?.cost ?? Infinity)) best = { value, cost: price }
    if (price === 0) break
  }
  return best
}

/** The cheapest of a few that are drawn; the first that costs nothing. Undefined when every one costs Infinity. */
export function cheapestDrawn<T>(
  tries: number,
  draw: () => T | undefined,
  cost: (value: T) => number,
): Choice<T> | undefined {
  let best: Choice<T> | undefined
  for (let i = 0; i < tries && best?.cost !== 0; i++) {
    const value = draw()
    if (value === undefined) continue
    const price = cost(value)
    if (price < (best?.cost ?? Infinity)) best = { value, cost: price }
  }
  return best
}

/** A uniformly random whole number in [0, count). */
export function randomPosition(count: number, random: RandomSource): number {
  return Math.floor(random.next() * count)
}
