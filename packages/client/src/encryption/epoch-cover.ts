import {
  cohortChain,
  cohortIdOf,
  isSameBytes,
  toHex,
  wrapKey,
  type Ciphers,
  type CohortRecord,
  type EpochRecord,
  type NodeId,
} from '@runnel/protocol'
import { tagTextOf, type CardHolder } from './card-holder.ts'
import type { Cohort } from './epoch-plan.ts'
import type { KeyPart } from './key-part.ts'
import type { Keyring } from './keyring.ts'

/** For whom an epoch is. */
export interface EpochCover {
  /** Of its readers and their cards. */
  readonly tags: readonly string[]
  /** Undefined where a cohort has no reader. */
  readonly cohorts: readonly (CohortRecord | undefined)[]
}

/** Reads for whom an epoch is; undefined when the record of a cohort cannot be found. */
export async function coverOf(
  openerId: NodeId,
  { readers, cohorts }: EpochRecord,
  keyPart: Pick<KeyPart, 'find'>,
  signal: AbortSignal,
): Promise<EpochCover | undefined> {
  const records: (CohortRecord | undefined)[] = []
  for (const { cohortId } of cohorts) {
    const isEmpty = cohortId.every((byte) => byte === 0)
    const record = isEmpty ? undefined : await keyPart.find(openerId, cohortChain(cohortId), signal)
    if (!isEmpty && record?.kind !== 'cohort') return undefined
    records.push(record?.kind === 'cohort' ? record : undefined)
  }
  const wrapped = [...readers, ...records.flatMap((record) => record?.readers ?? [])]
  return { tags: wrapped.map(({ tag }) => toHex(tag)), cohorts: records }
}

/** The cohorts of an epoch that another process of the same user made, with their keys, as their readers find them. */
export function cohortsIn(
  { cohorts }: EpochRecord,
  cover: EpochCover,
  holders: readonly CardHolder[],
  { keyring, ciphers }: { readonly keyring: Keyring; readonly ciphers: Ciphers },
): readonly (Cohort | undefined)[] {
  const byTag = new Map(holders.map((one) => [tagTextOf(one, ciphers), one] as const))
  return cohorts.map(({ cohortId: id }, i) => {
    const readers = cover.cohorts[i]?.readers ?? []
    const [first] = readers
    const holder = first && byTag.get(toHex(first.tag))
    if (first === undefined || holder === undefined) return undefined
    const secret = keyring.linkSecret(holder.userId, holder.cardHash)
    const key = wrapKey(ciphers, secret, 'wrapped cohort', id, first.wrapped)
    const members = readers.map(({ tag }) => toHex(tag)).sort()
    return isSameBytes(cohortIdOf(ciphers, key), id) ? { id, key, members: members.join() } : undefined
  })
}
