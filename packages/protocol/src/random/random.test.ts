import { describe, expect, it } from 'vitest'
import { toHex } from '../messages/plain-json.testkit.ts'
import type { Random } from '../ports.ts'
import { systemRandom } from '../system/system-random.ts'
import { seededRandom } from './seeded-random.ts'

/** What every implementation of the port must do. */
describe.each<[string, Random]>([
  ['seededRandom', seededRandom('test')],
  ['systemRandom', systemRandom],
])('%s', (_, random) => {
  it('gives numbers in [0, 1), evenly', () => {
    const buckets = new Array<number>(16).fill(0)
    for (let i = 0; i < 64_000; i++) {
      const value = random.next()
      if (value < 0 || value >= 1) expect.unreachable(String(value))
      const bucket = Math.floor(value * 16)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    // Eight standard deviations of a binomial(64000, 1/16).
    for (const count of buckets) expect(Math.abs(count - 4000)).toBeLessThan(8 * 61.3)
  })

  it.each([0, 1, 3, 32, 65_537, 200_000])('gives %d bytes when asked for them', (length) => {
    expect(random.bytes(length)).toHaveLength(length)
  })

  it('gives every value of a byte about as often', () => {
    const counts = new Array<number>(256).fill(0)
    for (const byte of random.bytes(256_000)) counts[byte] = (counts[byte] ?? 0) + 1
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(8 * 31.6)
  })

  it('forks generators that differ from each other', () => {
    const firsts = ['a', 'b', ''].map((label) => toHex(random.fork(label).bytes(16)))
    expect(new Set([...firsts, toHex(random.bytes(16))]).size).toBe(4)
  })
})

describe('seededRandom', () => {
  it('gives the same for the same seed and label, whatever was drawn before', () => {
    const used = seededRandom(7)
    used.bytes(1000)
    expect(toHex(used.fork('x').bytes(32))).toBe(toHex(seededRandom(7).fork('x').bytes(32)))
    expect(seededRandom('7').next()).toBe(seededRandom(7).next())
  })

  it('keeps its numbers from release to release', () => {
    expect(toHex(seededRandom('runnel').bytes(16))).toBe('f9d441b31852a261f2930890bdc267a9')
  })

  it('starts a hundred thousand forks in different places', () => {
    const root = seededRandom('root')
    const starts = new Set(Array.from({ length: 100_000 }, (_, i) => root.fork(`node ${i}`).next()))
    expect(starts.size).toBe(100_000)
  })

  it('tells nested forks from each other', () => {
    const root = seededRandom('root')
    expect(root.fork('a').fork('b').next()).not.toBe(root.fork('a/1:b').next())
    expect(root.fork('a').fork('b').next()).not.toBe(root.fork('b').fork('a').next())
  })
})
