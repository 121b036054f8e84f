import {
  ciphers,
  cohortChain,
  readerTag,
  seededRandom,
  toHex,
  type KeyRecord,
  type NodeId,
} from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { cohortsIn, coverOf } from './epoch-cover.ts'
import type { CardHolder } from './card-holder.ts'
import { planEpoch, type PlannedEpoch } from './epoch-plan.ts'
import { Keyring } from './keyring.ts'

const random = seededRandom('cover')
const keyring = new Keyring({ master: random.bytes(32) }, { ciphers })
const { signal } = new AbortController()
const openerId: NodeId = `0x${'a'.repeat(40)}` as NodeId
const holders = (count: number): CardHolder[] =>
  Array.from({ length: count }, () => ({
    userId: toHex(random.bytes(20)) as NodeId,
    cardHash: random.bytes(32),
  }))
const plan = (readers: readonly CardHolder[]): PlannedEpoch =>
  planEpoch(
    { ...{ readers, publishers: [], earlier: [], cohorts: [] }, createdMs: 0, readersAtBlock: 0 },
    { keyring, ciphers, random },
  )
const keyPartOf = ({ newCohorts }: PlannedEpoch, withheld = -1) => {
  const records = new Map<string, KeyRecord>()
  for (const [i, { cohortId, record }] of newCohorts.entries())
    if (i !== withheld) records.set(cohortChain(cohortId), record)
  return { find: async (_: NodeId, chain: string) => records.get(chain) }
}
const tagsOf = (all: readonly CardHolder[]) =>
  all.map(({ userId, cardHash }) => toHex(readerTag(ciphers, userId, cardHash))).sort()

describe('for whom an epoch is', () => {
  it.each([3, 300])('is told by the tags of its %i readers', async (count) => {
    const readers = holders(count)
    const planned = plan(readers)
    const cover = await coverOf(openerId, planned.record, keyPartOf(planned), signal)
    expect([...(cover?.tags ?? [])].sort()).toEqual(tagsOf(readers))
  })

  it('is not known where a cohort cannot be found', async () => {
    const planned = plan(holders(300))
    expect(await coverOf(openerId, planned.record, keyPartOf(planned, 1), signal)).toBeUndefined()
  })

  it('gives another process of the opener the cohorts with their keys, as far as somebody is left in them', async () => {
    const readers = holders(300)
    const planned = plan(readers)
    const cover = await coverOf(openerId, planned.record, keyPartOf(planned), signal)
    if (cover === undefined) throw new Error('no cover')
    expect(cohortsIn(planned.record, cover, readers, { keyring, ciphers })).toEqual(planned.cohorts)
    expect(cohortsIn(planned.record, cover, [], { keyring, ciphers })).toEqual(
      planned.cohorts.map(() => undefined),
    )
    const other = new Keyring({ master: random.bytes(32) }, { ciphers })
    expect(cohortsIn(planned.record, cover, readers, { keyring: other, ciphers })).toEqual(
      planned.cohorts.map(() => undefined),
    )
  })
})
