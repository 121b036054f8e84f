import type { Crypto, Random } from '@runnel/protocol'
import { clientError } from '../errors.ts'

const encoder = new TextEncoder()

/**
 * Returns the partition of a key: the first four bytes of the keccak-256 hash of its UTF-8, as an unsigned big-endian
 * number, modulo the number of partitions. The result is the same in every client, whatever its language.
 */
export function partitionOfKey(key: string, partitions: number, crypto: Crypto): number {
  if (partitions === 1) return 0
  const [a = 0, b = 0, c = 0, d = 0] = crypto.keccak256(encoder.encode(key))
  return (((a << 24) | (b << 16) | (c << 8) | d) >>> 0) % partitions
}

/** One of the partitions. */
export function anyPartition(partitions: number, random: Random): number {
  return Math.floor(random.next() * partitions)
}

/** A partition the caller chose. Throws PARTITION_OUT_OF_RANGE. */
export function checkPartition(partition: number, stream: { id: string; partitions: number }): number {
  if (Number.isInteger(partition) && partition >= 0 && partition < stream.partitions) return partition
  throw clientError('PARTITION_OUT_OF_RANGE', `${partition}; ${stream.id} has ${stream.partitions}`)
}
