import { loadCrypto, seededRandom } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyPartition, checkPartition, partitionOfKey } from './partition.ts'

const crypto = await loadCrypto()

describe('the partition of a key', () => {
  // keccak-256 of the empty text begins c5d24601, of "abc" 4e03657a (Keccak team, known answers).
  it.each([
    ['', 100, 0xc5d24601 % 100],
    ['abc', 100, 0x4e03657a % 100],
    ['abc', 7, 0x4e03657a % 7],
    ['abc', 1, 0],
  ])('of %j among %i is %i', (key, partitions, expected) => {
    expect(partitionOfKey(key, partitions, crypto)).toBe(expected)
  })

  it('is always one of the partitions', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 100 }), (key, partitions) => {
        const partition = partitionOfKey(key, partitions, crypto)
        expect(Number.isInteger(partition) && partition >= 0 && partition < partitions).toBe(true)
      }),
    )
  })

  it('spreads keys over all partitions', () => {
    const used = new Set(Array.from({ length: 2000 }, (_, i) => partitionOfKey(`key-${i}`, 100, crypto)))
    expect(used.size).toBe(100)
  })
})

it('takes any partition at random', () => {
  const random = seededRandom('partitions')
  const used = new Set(Array.from({ length: 100 }, () => anyPartition(5, random)))
  expect([...used].sort()).toEqual([0, 1, 2, 3, 4])
})

it.each([-1, 3, 0.5, NaN])('refuses the partition %s of three', (partition) => {
  expect(() => checkPartition(partition, { id: 'a stream', partitions: 3 })).toThrow(
    expect.objectContaining({ code: 'PARTITION_OUT_OF_RANGE', message: expect.stringContaining('a stream') }),
  )
})
