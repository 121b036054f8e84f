import {
  cohortIdOf,
  commitmentOf,
  epochIdBytes,
  epochIdOf,
  limits,
  publisherKeyOf,
  publisherTag,
  readerTag,
  wrapKey,
  type Ciphers,
  type CohortRecord,
  type EpochId,
  type EpochRecord,
  type PublishersRecord,
  type Random,
  type WrappedFor,
} from '@runnel/protocol'
import { groupOfHolder, tagTextOf, type CardHolder } from './card-holder.ts'
import type { Keyring } from './keyring.ts'

/** The key of an epoch, and what it is called. */
export interface EpochKey {
  readonly id: EpochId
  readonly commitment: Uint8Array
  /** 32 bytes, secret. */
  readonly key: Uint8Array
  /** Unix milliseconds: it was made then or before, by its opener's clock; undefined where that is not known. */
  readonly createdMs?: number | undefined
}

/** Readers that share a key, so that an epoch need not name each of them. */
export interface Cohort {
  readonly id: Uint8Array
  readonly key: Uint8Array
  /** The tags of its readers, in order, as one text. */
  readonly members: string
}

export interface EpochDraft {
  readonly readers: readonly CardHolder[]
  /** Publishers that may not read, where this opener is for all publishers. */
  readonly publishers: readonly CardHolder[]
  /** The epochs that readers of this one can read as well, the newest first. */
  readonly earlier: readonly EpochKey[]
  /** The cohorts of the epoch before: those whose readers are the same stay. */
  readonly cohorts: readonly (Cohort | undefined)[]
  readonly createdMs: number
  readonly readersAtBlock: number
}

export interface PlannedEpoch extends EpochKey {
  readonly record: EpochRecord
  readonly cohorts: readonly (Cohort | undefined)[]
  /** Records of the cohorts that are new. */
  readonly newCohorts: readonly { readonly cohortId: Uint8Array; readonly record: CohortRecord }[]
  readonly publisherRecords: readonly PublishersRecord[]
}

/** Readers that an epoch names one by one; more are split into cohorts. */
export const maxFlatReaders = 128
/** Readers of a cohort, and publishers of a record, when they are counted anew. */
const wantedGroupSize = 96

const noCohort = new Uint8Array(8)
const noKey = new Uint8Array(32)

/**
 * A new epoch and all the records that it takes. Taking one of 10,000 readers away changes one cohort of about a hundred, and each
 * cohort's wrapped key: 9 KB.
 */
export function planEpoch(
  draft: EpochDraft,
  { keyring, ciphers, random }: { keyring: Keyring; ciphers: Ciphers; random: Random },
): PlannedEpoch {
  const key = random.bytes(32)
  const commitment = commitmentOf(ciphers, key)
  const epoch = { key, commitment, id: epochIdOf(commitment), createdMs: draft.createdMs }
  const wrapEpoch = (under: Uint8Array) => wrapKey(ciphers, under, 'wrapped epoch', commitment, key)
  const wrapFor = (
    { userId, cardHash }: CardHolder,
    wrap: (secret: Uint8Array) => Uint8Array,
  ): WrappedFor => ({
    tag: readerTag(ciphers, userId, cardHash),
    wrapped: wrap(keyring.linkSecret(userId, cardHash)),
  })
  const { readers, cohorts: before } = draft
  const groups = grouped(readers, cohortCount(readers.length, before.length), ciphers)
  const newCohorts: { cohortId: Uint8Array; record: CohortRecord }[] = []
  const cohorts = groups.map((members, i) => {
    const known = groups.length === before.length ? before[i] : undefined
    const names = membersOf(members, ciphers)
    if (known?.members === names || members.length === 0) return members.length === 0 ? undefined : known
    const cohort = newCohort(names, ciphers, random)
    const wrap = (secret: Uint8Array) => wrapKey(ciphers, secret, 'wrapped cohort', cohort.id, cohort.key)
    const record: CohortRecord = {
      kind: 'cohort',
      keyringId: keyring.id,
      readers: members.map((one) => wrapFor(one, wrap)),
    }
    newCohorts.push({ cohortId: cohort.id, record })
    return cohort
  })
  const publisherRecords = groupsOfPublishers(draft.publishers, ciphers).map((members): PublishersRecord => ({
    kind: 'publishers',
    keyringId: keyring.id,
    commitment,
    publishers: members.map(({ userId, cardHash }) => {
      const publisherKey = publisherKeyOf(ciphers, key, userId)
      const secret = keyring.linkSecret(userId, cardHash)
      return {
        tag: publisherTag(ciphers, userId, publisherKey),
        wrapped: wrapKey(ciphers, secret, 'wrapped publisher', commitment, publisherKey),
      }
    }),
  }))
  const record: EpochRecord = {
    kind: 'epoch',
    keyringId: keyring.id,
    commitment,
    createdMs: draft.createdMs,
    readersAtBlock: draft.readersAtBlock,
    own: keyring.own(commitment, key),
    readers: groups.length > 0 ? [] : readers.map((one) => wrapFor(one, wrapEpoch)),
    cohorts: cohorts.map((cohort) =>
      cohort === undefined
        ? { cohortId: noCohort, wrapped: noKey }
        : { cohortId: cohort.id, wrapped: wrapEpoch(cohort.key) },
    ),
    publisherRecords: publisherRecords.length,
    earlier: draft.earlier.slice(0, limits.maxEarlierEpochs).map((earlier) => {
      const id = earlier.commitment.slice(0, epochIdBytes)
      return { id, wrapped: wrapKey(ciphers, key, 'earlier epoch', id, earlier.key) }
    }),
  }
  return { ...epoch, record, cohorts, newCohorts, publisherRecords }
}

/** None for a few; otherwise a power of two, and the one before while its cohorts are neither large nor small. */
function cohortCount(readers: number, before: number): number {
  if (readers <= maxFlatReaders) return 0
  if (before > 0 && readers / before >= 32 && readers / before <= 160) return before
  return powerOfTwoFor(readers, limits.maxCohorts)
}

const powerOfTwoFor = (count: number, max: number): number =>
  Math.min(max, 2 ** Math.max(1, Math.ceil(Math.log2(count / wantedGroupSize))))

function grouped(holders: readonly CardHolder[], count: number, ciphers: Ciphers): CardHolder[][] {
  const groups = Array.from({ length: count }, (): CardHolder[] => [])
  if (count > 0) for (const one of holders) groups[groupOfHolder(one, count, ciphers)]?.push(one)
  return groups
}

function groupsOfPublishers(publishers: readonly CardHolder[], ciphers: Ciphers): CardHolder[][] {
  if (publishers.length === 0) return []
  if (publishers.length <= maxFlatReaders) return [[...publishers]]
  return grouped(publishers, powerOfTwoFor(publishers.length, limits.maxPublisherRecords), ciphers)
}

function newCohort(members: string, ciphers: Ciphers, random: Random): Cohort {
  const key = random.bytes(32)
  return { key, id: cohortIdOf(ciphers, key), members }
}

const membersOf = (members: readonly CardHolder[], ciphers: Ciphers): string =>
  members
    .map((one) => tagTextOf(one, ciphers))
    .sort()
    .join()
