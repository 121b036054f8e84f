import type { NodeId } from '../ids/node-id.ts'

/** A key wrapped for one user, found by its tag of 4 bytes: `readerTag`, or of a publisher that may not read `publisherTag`. */
export interface WrappedFor {
  readonly tag: Uint8Array
  readonly wrapped: Uint8Array
}

/** A cohort of readers in an epoch: 8 bytes that tell its key, all 0 where it has no reader; and the epoch's key under that. */
export interface CohortEntry {
  readonly cohortId: Uint8Array
  readonly wrapped: Uint8Array
}

/** An epoch before this one: the first 6 bytes of its commitment, and its key under this epoch's. */
export interface EarlierEpoch {
  readonly id: Uint8Array
  readonly wrapped: Uint8Array
}

/**
 * Opener → reader: what is sealed by HPKE is a `LinkSecret`. There is one for each reader, so it says nothing that follows from its chain,
 * which HPKE binds it to.
 */
export interface LinkRecord {
  readonly kind: 'link'
  /** By which a reader knows what may be for it, 4 bytes: `readerHint`. */
  readonly hint: Uint8Array
  /** Of the reader and that of its cards which it is sealed to, 4 bytes: `readerTag`. */
  readonly tag: Uint8Array
  /** HPKE's encapsulated secret, 1,120 bytes. */
  readonly encapsulated: Uint8Array
  readonly sealed: Uint8Array
}

/** An epoch of an opener, and for whom. */
export interface EpochRecord {
  readonly kind: 'epoch'
  /** Of the opener's keyring: 16 bytes. */
  readonly keyringId: Uint8Array
  readonly commitment: Uint8Array
  /** Unix milliseconds. */
  readonly createdMs: number
  /** The permissions that it regards: all changes until this block of the registry's chain; 0 where there is none. */
  readonly readersAtBlock: number
  /** The epoch's key under the opener's keyring. */
  readonly own: Uint8Array
  /** Each reader by itself, or, for many, cohorts of them: 2 to the power of a whole number, at least 1, of cohorts. */
  readonly readers: readonly WrappedFor[]
  readonly cohorts: readonly CohortEntry[]
  /** Into how many records the keys of publishers that may not read are split; 0 where each publisher opens for itself. */
  readonly publisherRecords: number
  /** The newest first. */
  readonly earlier: readonly EarlierEpoch[]
}

/** The key of a cohort for each of its readers. */
export interface CohortRecord {
  readonly kind: 'cohort'
  readonly keyringId: Uint8Array
  readonly readers: readonly WrappedFor[]
}

/** Keys of publishers that may not read, in one epoch. */
export interface PublishersRecord {
  readonly kind: 'publishers'
  readonly keyringId: Uint8Array
  readonly commitment: Uint8Array
  readonly publishers: readonly WrappedFor[]
}

/** Which epoch is the opener's newest. */
export interface NewestRecord {
  readonly kind: 'newest'
  readonly keyringId: Uint8Array
  readonly commitment: Uint8Array
}

/** A reader asks for keys that it has not found. */
export interface RequestRecord {
  readonly kind: 'request'
  /** An encoded card. */
  readonly card: Uint8Array
  /** The first 6 bytes of the commitments of the epochs that it wants; none: whatever is used now. */
  readonly wanted: readonly Uint8Array[]
}

/** Anybody → reader: what is sealed by HPKE are the keys of epochs, 32 bytes each. */
export interface AnswerRecord {
  readonly kind: 'answer'
  readonly readerId: NodeId
  readonly cardHash: Uint8Array
  readonly encapsulated: Uint8Array
  readonly sealed: Uint8Array
}

/** The content of a message in a stream's key part. */
export type KeyRecord =
  LinkRecord | EpochRecord | CohortRecord | PublishersRecord | NewestRecord | RequestRecord | AnswerRecord

/** What a link holds: the secret that later keys are wrapped under, and a key to begin with. */
export interface LinkSecret {
  /** 32 bytes. */
  readonly secret: Uint8Array
  /** The epoch that was the newest: the first 6 bytes of its commitment. */
  readonly epochId: Uint8Array
  /**
   * Of a reader, the epoch's key; of a publisher that may not read, its own key in the epoch. Undefined where the records of the epoch have
   * it, wrapped under the secret.
   */
  readonly key: Uint8Array | undefined
  readonly isForReader: boolean
}
