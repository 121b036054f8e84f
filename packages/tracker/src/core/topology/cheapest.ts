/** Uniform numbers in [0, 1). */
export interface RandomSource {
  next(): number
}

export interface Choice<T> {
  readonly value: T
  readonly cost: number
}

/** Random draws before the candidates are scanned one after the other. */
const maxRandomTries = 32
/** Candidates scanned in search of a cheaper one, once an acceptable one is found. */
const maxScan = 1024
/** A cost below this is not worth a scan: it does not mean that the edge is impossible. */
const worthScan = 1

/**
 * A random one of the candidates at positions 0 … count − 1 with cost 0; if none is found, the cheapest that was found;
 * `undefined` only if every candidate costs Infinity, that is, if all are impossible.
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

/** The cheapest of a few draws; the first that costs nothing. Undefined when every one costs Infinity. */
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

/** A uniformly random integer in [0, count). */
export function randomPosition(count: number, random: RandomSource): number {
  return Math.floor(random.next() * count)
}
