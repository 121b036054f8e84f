import {
  ciphers,
  cohortIdOf,
  isSameBytes,
  nodeIdFromBytes,
  publisherKeyOf,
  readerTag,
  seededRandom,
  wrapKey,
  type EpochRecord,
  type CohortRecord,
} from '@runnel/protocol'
import { encodeKeyRecord } from '@runnel/protocol/key-records'
import { describe, expect, it } from 'vitest'
import { maxFlatReaders, planEpoch, type EpochDraft, type PlannedEpoch } from './epoch-plan.ts'
import type { CardHolder } from './card-holder.ts'
import { Keyring } from './keyring.ts'

const random = seededRandom('plan')
const keyring = new Keyring({ master: random.bytes(32) }, { ciphers })
const holders = (count: number): CardHolder[] =>
  Array.from({ length: count }, () => ({
    userId: nodeIdFromBytes(random.bytes(20)),
    cardHash: random.bytes(32),
  }))
const plan = (draft: Partial<EpochDraft>): PlannedEpoch =>
  planEpoch(
    {
      ...{ readers: [], publishers: [], earlier: [], cohorts: [], createdMs: 0, readersAtBlock: 0 },
      ...draft,
    },
    { keyring, ciphers, random },
  )
const bytesOf = ({ record, newCohorts, publisherRecords }: PlannedEpoch): number =>
  [record, ...newCohorts.map((one) => one.record), ...publisherRecords].reduce(
    (sum, one) => sum + encodeKeyRecord(one).length,
    0,
  )

/** What a reader finds in an epoch and its cohorts. */
function keyFor(
  { userId, cardHash }: CardHolder,
  { commitment, readers, cohorts }: EpochRecord,
  cohortRecords: readonly { readonly cohortId: Uint8Array; readonly record: CohortRecord }[],
): Uint8Array | undefined {
  const tag = readerTag(ciphers, userId, cardHash)
  const secret = keyring.linkSecret(userId, cardHash)
  const mine = readers.find((one) => isSameBytes(one.tag, tag))
  if (mine !== undefined) return wrapKey(ciphers, secret, 'wrapped epoch', commitment, mine.wrapped)
  for (const { cohortId, record } of cohortRecords) {
    const entry = cohorts.find((one) => isSameBytes(one.cohortId, cohortId))
    const found = record.readers.find((one) => isSameBytes(one.tag, tag))
    if (entry === undefined || found === undefined) continue
    const key = wrapKey(ciphers, secret, 'wrapped cohort', cohortId, found.wrapped)
    if (isSameBytes(cohortIdOf(ciphers, key), cohortId))
      return wrapKey(ciphers, key, 'wrapped epoch', commitment, entry.wrapped)
  }
  return undefined
}

describe('the records of a new epoch', () => {
  it('name up to 128 readers one by one, and more in cohorts', () => {
    const readers = holders(maxFlatReaders + 1)
    const flat = plan({ readers: readers.slice(1) })
    expect([flat.record.readers.length, flat.record.cohorts.length]).toEqual([128, 0])
    const split = plan({ readers })
    expect([split.record.readers.length, split.record.cohorts.length]).toEqual([0, 2])
    for (const [planned, all] of [
      [flat, readers.slice(1)],
      [split, readers],
    ] as const)
      for (const one of all) expect(keyFor(one, planned.record, planned.newCohorts)).toEqual(planned.key)
  })

  it('are at most 10 KB where one of 10,000 readers goes, who finds nothing in them', () => {
    const readers = holders(10_000)
    const before = plan({ readers })
    const [gone, ...others] = readers
    const after = plan({ readers: others, cohorts: before.cohorts })
    expect(after.newCohorts).toHaveLength(1)
    // Its cohort has 78 readers on average.
    expect(bytesOf(after)).toBeLessThanOrEqual(10_000)
    const cohorts = [...before.newCohorts, ...after.newCohorts]
    expect(keyFor(gone as CardHolder, after.record, cohorts)).toBeUndefined()
    for (const one of others.slice(0, 200)) expect(keyFor(one, after.record, cohorts)).toEqual(after.key)
  })

  it('keep cohorts while their readers stay, and as many while these are neither many nor few', () => {
    const readers = holders(1_000)
    const before = plan({ readers })
    expect(plan({ readers, cohorts: before.cohorts }).newCohorts).toEqual([])
    const count = before.cohorts.length
    const fewer = plan({ readers: readers.slice(0, 600), cohorts: before.cohorts })
    expect(fewer.cohorts).toHaveLength(count)
    const few = plan({ readers: readers.slice(0, 200), cohorts: before.cohorts })
    expect(few.cohorts.length).toBeLessThan(count)
  })

  it('give a reader with a new card another key', () => {
    const readers = holders(200)
    const before = plan({ readers })
    const [first, ...others] = readers
    const renewed = { userId: (first as CardHolder).userId, cardHash: random.bytes(32) }
    const after = plan({ readers: [renewed, ...others], cohorts: before.cohorts })
    expect(after.newCohorts).toHaveLength(1)
    expect(keyFor(renewed, after.record, after.newCohorts)).toEqual(after.key)
  })

  it('wrap up to 16 earlier epochs', () => {
    const earlier = Array.from({ length: 20 }, () => plan({}))
    const { record, key } = plan({ earlier })
    const opened = record.earlier.map(({ id, wrapped }) =>
      wrapKey(ciphers, key, 'earlier epoch', id, wrapped),
    )
    expect(opened).toEqual(earlier.slice(0, 16).map((one) => one.key))
  })

  it('give publishers that may not read their own keys only', () => {
    const publishers = holders(3)
    const { publisherRecords, commitment, key, record } = plan({ publishers })
    expect(record.publisherRecords).toBe(1)
    const keys = publisherRecords.flatMap((one) =>
      one.publishers.map(({ wrapped }, i) => {
        const { userId, cardHash } = publishers[i] as CardHolder
        return wrapKey(
          ciphers,
          keyring.linkSecret(userId, cardHash),
          'wrapped publisher',
          commitment,
          wrapped,
        )
      }),
    )
    expect(keys).toEqual(publishers.map(({ userId }) => publisherKeyOf(ciphers, key, userId)))
  })
})
