import { epochIdOf, type EpochId, type EpochRecord } from '@runnel/protocol'

/** What messages are sealed with now. */
export interface SealingEpoch {
  readonly id: EpochId
  /** Of this user in that epoch: 32 bytes. */
  readonly publisherKey: Uint8Array
}

/** An epoch of this user, or of the key holder, that this process may seal in. */
export interface UsableEpoch extends SealingEpoch {
  readonly keyringId: Uint8Array
  readonly commitment: Uint8Array
  /** Unix milliseconds. */
  readonly createdMs: number
  /** The epoch's key; undefined where this user may only publish and another opens. */
  readonly key: Uint8Array | undefined
  /** The changes that it regards. */
  readonly changes: number
  /** Unix milliseconds: then it is too old. */
  readonly validUntilMs: number
  readonly isOwn: boolean
}

/** The epoch of a record, with what this process knows of it. */
export function usableEpoch(
  { keyringId, commitment, createdMs }: EpochRecord,
  known: Pick<UsableEpoch, 'key' | 'publisherKey' | 'changes' | 'validUntilMs' | 'isOwn'>,
): UsableEpoch {
  return { ...known, id: epochIdOf(commitment), keyringId, commitment, createdMs }
}
