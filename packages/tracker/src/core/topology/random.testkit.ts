import type { RandomSource } from './cheapest.ts'

/** A seeded generator (splitmix32: a counter and a finalizer), good enough to test with. */
export function seededRandom(seed: number): RandomSource {
  let state = seed | 0
  return {
    next: () => {
      state = (state + 0x9e3779b9) | 0
      let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
      return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
    },
  }
}
