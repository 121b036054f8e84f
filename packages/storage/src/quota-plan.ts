import { isKeyPart, type StreamPartId } from '@runnel/protocol'
import { ownerOf, streamOf } from './share-out.ts'

/** What a stream part takes of the disk. */
export interface PartBytes {
  readonly streamPartId: StreamPartId
  readonly bytes: number
  /** Bytes that are about to be added. */
  readonly addedBytes: number
}

/** Bytes of batches. */
export interface DiskCaps {
  /** Of all streams together. */
  readonly maxBytes: number
  /** Of each stream. */
  readonly maxBytesPerStream: number
}

/** When a cap is exceeded, bytes are deleted down to this share of it, so that this does not happen for every batch. */
const lowWater = 0.95

/**
 * How many bytes each stream part that must shrink may keep. A stream over its cap shrinks alone; when the total is over its cap,
 * the owner with the most shrinks first, until no owner has more than another that shrinks. Within a stream or an owner, the
 * largest stream part shrinks first in the same way; key parts shrink last, but for what they have beyond half of the room.
 */
export function planQuota(parts: readonly PartBytes[], caps: DiskCaps): ReadonlyMap<StreamPartId, number> {
  const left = new Map(parts.map(({ streamPartId, bytes, addedBytes }) => [streamPartId, bytes + addedBytes]))
  for (const ids of groupsBy(left, streamOf)) {
    if (sumOf(left, ids) > caps.maxBytesPerStream) shrink(left, ids, lowWater * caps.maxBytesPerStream)
  }
  if (sumOf(left, left.keys()) > caps.maxBytes) {
    const owners = groupsBy(left, ownerOf).map((ids) => ({ ids, bytes: sumOf(left, ids) }))
    const share = levelFor(
      owners.map(({ bytes }) => bytes),
      caps.maxBytes,
    )
    const givers = owners.filter(({ bytes }) => bytes > share)
    const others = owners.filter(({ bytes }) => bytes <= share).reduce((sum, { bytes }) => sum + bytes, 0)
    const level = levelFor(
      givers.map(({ bytes }) => bytes),
      Math.max(0, lowWater * caps.maxBytes - others),
    )
    // Where nearly all is within shares, the room cannot come from the few that are not: they keep their own share.
    const least = Math.floor(lowWater * share)
    for (const { ids } of givers) shrink(left, ids, Math.max(least, level))
  }
  const plan = new Map<StreamPartId, number>()
  for (const { streamPartId, bytes, addedBytes } of parts) {
    const kept = Math.max(0, (left.get(streamPartId) ?? 0) - addedBytes)
    if (kept < bytes) plan.set(streamPartId, kept)
  }
  return plan
}

/** The most that each may have so that all together have no more than `max`; Infinity when they have not. */
export function levelFor(weights: readonly number[], max: number): number {
  let rest = max
  const ascending = weights.toSorted((a, b) => a - b)
  for (const [index, weight] of ascending.entries()) {
    const level = Math.floor(rest / (ascending.length - index))
    if (weight > level) return Math.max(0, level)
    rest -= weight
  }
  return Infinity
}

/**
 * Cuts the largest of some until all together are within `max`. Keys come before messages up to half of that, and no further: who may
 * subscribe may write into a key part, and could have all messages deleted.
 */
function shrink(left: Map<StreamPartId, number>, ids: readonly StreamPartId[], max: number): void {
  const keys = ids.filter(isKeyPart)
  const messages = ids.filter((id) => !isKeyPart(id))
  cut(left, keys, Math.max(Math.floor(max / 2), max - sumOf(left, messages)))
  cut(left, messages, max - sumOf(left, keys))
}

function cut(left: Map<StreamPartId, number>, ids: readonly StreamPartId[], max: number): void {
  const level = levelFor(
    ids.map((id) => left.get(id) ?? 0),
    max,
  )
  for (const id of ids) left.set(id, Math.min(left.get(id) ?? 0, level))
}

function sumOf(left: ReadonlyMap<StreamPartId, number>, ids: Iterable<StreamPartId>): number {
  let sum = 0
  for (const id of ids) sum += left.get(id) ?? 0
  return sum
}

function groupsBy(
  left: ReadonlyMap<StreamPartId, number>,
  keyOf: (id: StreamPartId) => string,
): StreamPartId[][] {
  return [...Map.groupBy(left.keys(), keyOf).values()]
}
