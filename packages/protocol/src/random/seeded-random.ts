import type { Random } from '../ports.ts'

/**
 * A generator that gives the same numbers for the same seed: xoshiro128** 1.1 (Blackman and Vigna, "Scrambled linear
 * pseudorandom number generators", 2021). For tests and simulations; never for keys.
 */
export function seededRandom(seed: string | number): Random {
  const name = String(seed)
  const state = stateOf(name)
  const nextU32 = (): number => xoshiro128(state)
  return {
    next: () => (nextU32() * 0x200000 + (nextU32() >>> 11)) / 2 ** 53,
    bytes(length) {
      const bytes = new Uint8Array(length)
      for (let i = 0; i < length; i += 4) {
        const word = nextU32()
        for (let j = 0; j < 4 && i + j < length; j++) bytes[i + j] = word >>> (8 * j)
      }
      return bytes
    },
    // The length keeps ('a', 'b/c') and ('a/b', 'c') apart.
    fork: (label) => seededRandom(`${name}/${label.length}:${label}`),
  }
}

function xoshiro128(state: Uint32Array): number {
  const [a, b, c, d] = state as unknown as [number, number, number, number]
  const result = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
  const x = c ^ a
  const y = d ^ b
  state[1] = b ^ x
  state[0] = a ^ y
  state[2] = x ^ (b << 9)
  state[3] = rotate(y, 11)
  return result
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}

const multipliers = [0x01000193, 0x85ebca6b, 0xc2b2ae35, 0x27d4eb2f]

/**
 * Four words from the seed, each from a hash of its own (FNV-1a's xor and multiply, then MurmurHash3's finalizer), so that
 * many thousands of forks do not meet in the same state.
 */
function stateOf(seed: string): Uint32Array {
  const state = Uint32Array.from(multipliers, (multiplier) => {
    let word = 0x811c9dc5
    for (let i = 0; i < seed.length; i++) {
      word = Math.imul(word ^ seed.charCodeAt(i), multiplier)
      word ^= word >>> 15
    }
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    return word ^ (word >>> 16)
  })
  // All zero is the one state the generator never leaves.
  if (state.every((word) => word === 0)) state[0] = 1
  return state
}
