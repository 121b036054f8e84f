import { toStreamPartId, type DelegationRef, type MessageBatch, type StreamPartId } from '@runnel/protocol'
import { storageError } from '../errors.ts'

/** Delegations as `encodeDelegation` writes them, by their references. */
export type EncodedDelegations = ReadonlyMap<DelegationRef, Uint8Array>

export const noDelegations: EncodedDelegations = new Map()

/** Batches of one stream part that begin within one such period share a copy of the delegation that they name. */
const delegationPeriodMs = 3_600_000

/**
 * The period in which a batch begins. A delegation is kept once for each stream part and period in which batches begin that name it, and
 * found from such a batch. It goes when no batch names it there any more: with the last of these, or soon after.
 */
export function periodOf(firstMs: number): number {
  return Math.floor(firstMs / delegationPeriodMs)
}

/** The first and the last time at which a batch of a period may begin. */
export function timesOfPeriod(period: number): { readonly firstMs: number; readonly lastMs: number } {
  return { firstMs: period * delegationPeriodMs, lastMs: (period + 1) * delegationPeriodMs - 1 }
}

/** Where the delegation of a batch is. */
export interface DelegationPlace {
  readonly part: StreamPartId
  readonly period: number
  readonly ref: DelegationRef
}

/** Nowhere for a batch that names none. */
export function delegationPlaceOf({ chain, messages, delegationRef: ref }: MessageBatch): DelegationPlace[] {
  const [first] = messages
  if (ref === undefined || first === undefined) return []
  return [{ part: toStreamPartId(chain.streamId, chain.partition), period: periodOf(first.timestamp), ref }]
}

/**
 * What a batch counts for in the store: as much as its delegation at least, so that ever new delegations cannot fill the disk with
 * more than about twice of what is counted.
 */
export function countedBytes(batch: Pick<MessageBatch, 'bytes'>, delegation: Uint8Array | undefined): number {
  return Math.max(batch.bytes.length, delegation?.length ?? 0)
}

/** The delegation that a batch names; undefined when it names none. Throws INTERNAL when it is not among the given ones. */
export function delegationOf(
  { delegationRef: ref }: Pick<MessageBatch, 'delegationRef'>,
  delegations: EncodedDelegations,
): Uint8Array | undefined {
  if (ref === undefined) return undefined
  const delegation = delegations.get(ref)
  if (delegation === undefined) throw storageError('INTERNAL', `a batch without its delegation, ${ref}`)
  return delegation
}

/** Those of the delegations that batches name. Throws INTERNAL when one is not among the given ones. */
export function neededDelegations(
  batches: readonly MessageBatch[],
  delegations: EncodedDelegations,
): EncodedDelegations {
  const needed = new Map<DelegationRef, Uint8Array>()
  for (const batch of batches) {
    const { delegationRef: ref } = batch
    const delegation = delegationOf(batch, delegations)
    if (ref !== undefined && delegation !== undefined) needed.set(ref, delegation)
  }
  return needed
}
