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

/** Four words from the seed: FNV-1a over its UTF-16 units, spread by the finalizer of MurmurHash3. Never all zero in practice, and made so in any case. */
function stateOf(seed: string): Uint32Array {
  let hash = 0x811c9dc5
  for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193)
  const state = new Uint32Array(4)
  for (let i = 0; i < 4; i++) {
    hash = (hash + 0x9e3779b9) | 0
    let word = hash
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    state[i] = word ^ (word >>> 16)
  }
  if (state.every((word) => word === 0)) state[0] = 1
  return state
}
