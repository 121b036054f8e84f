import type { Client } from 'cassandra-driver'
import type { DelegationRef, MessageBatch, StreamPartId } from '@runnel/protocol'
import { firstRef, lastRef } from '../last-messages.ts'
import { delegationPlaceOf, periodOf, type EncodedDelegations } from '../stored-delegations.ts'
import { forAll } from './concurrency.ts'
import type { Partitions } from './partitions.ts'
import { settledMs } from './totals.ts'

const options = { prepare: true, isIdempotent: true }
/** References looked up in one request. */
const lookUpSize = 64

/** Writes the delegations that batches name, to be done before the batches are written. */
export async function writeDelegations(
  client: Client,
  keyspace: string,
  batches: readonly MessageBatch[],
  delegations: EncodedDelegations,
): Promise<void> {
  const periods = placesByPeriod(batches)
  // As with buckets: what is in a period that is not listed would never be deleted.
  await forAll(periods, ({ part, period }) =>
    client.execute(
      `INSERT INTO ${keyspace}.delegation_periods (part, period) VALUES (?, ?)`,
      [part, period],
      options,
    ),
  )
  const insert = `INSERT INTO ${keyspace}.delegations (part, period, ref, bytes) VALUES (?, ?, ?, ?)`
  const rows = periods.flatMap(({ part, period, refs }) => refs.map((ref) => [part, period, ref] as const))
  await forAll(rows, ([part, period, ref]) =>
    client.execute(insert, [part, period, ref, Buffer.from(delegations.get(ref) ?? [])], options),
  )
}

/** The delegations that stored batches name. */
export async function readDelegations(
  client: Client,
  keyspace: string,
  batches: readonly MessageBatch[],
): Promise<EncodedDelegations> {
  const found = new Map<DelegationRef, Uint8Array>()
  const query = `SELECT ref, bytes FROM ${keyspace}.delegations WHERE part = ? AND period = ? AND ref IN ?`
  const lookUps = placesByPeriod(batches).flatMap(({ part, period, refs }) =>
    Array.from({ length: Math.ceil(refs.length / lookUpSize) }, (_, index) => {
      const some = refs.slice(index * lookUpSize, (index + 1) * lookUpSize)
      return [part, period, some] as const
    }),
  )
  await forAll(lookUps, async (lookUp) => {
    const { rows } = await client.execute(query, [...lookUp], options)
    for (const row of rows) found.set(row.get('ref') as DelegationRef, row.get('bytes') as Uint8Array)
  })
  return found
}

/**
 * Deletes the delegations of periods before the one in which the oldest batch left begins. What was written lately stays until the
 * next time: the batches that go with it may still be under way.
 */
export async function forgetDelegations(
  {
    client,
    keyspace,
    partitions,
    now,
  }: {
    readonly client: Client
    readonly keyspace: string
    readonly partitions: Pick<Partitions, 'overlapping'>
    readonly now: () => number
  },
  part: StreamPartId,
): Promise<void> {
  const periods = `SELECT period FROM ${keyspace}.delegation_periods WHERE part = ? AND period < ?`
  const listed = await client.execute(`${periods} LIMIT 1`, [part, Number.MAX_SAFE_INTEGER], options)
  if (listed.rowLength === 0) return
  const oldest = await partitions.overlapping({ from: firstRef, to: lastRef }).next()
  const before = oldest.done ? Number.MAX_SAFE_INTEGER : periodOf(oldest.value.firstTime)
  const settledUs = (now() - settledMs) * 1000
  // A period is listed a moment before what is in it is written, and has to stay as long.
  const tables = { delegations: settledUs, delegation_periods: settledUs - settledMs * 1000 }
  for await (const row of await client.execute(periods, [part, before], { ...options, autoPage: true })) {
    for (const [table, writtenBeforeUs] of Object.entries(tables)) {
      const query = `DELETE FROM ${keyspace}.${table} USING TIMESTAMP ? WHERE part = ? AND period = ?`
      await client.execute(query, [writtenBeforeUs, part, Number(row.get('period'))], options)
    }
  }
}

interface Period {
  readonly part: StreamPartId
  readonly period: number
  /** Each once. */
  readonly refs: readonly DelegationRef[]
}

function placesByPeriod(batches: readonly MessageBatch[]): Period[] {
  const places = Map.groupBy(batches.flatMap(delegationPlaceOf), ({ part, period }) => `${part} ${period}`)
  return [...places.values()].flatMap((ofPeriod) => {
    const refs = [...new Set(ofPeriod.map(({ ref }) => ref))]
    return ofPeriod.slice(0, 1).map(({ part, period }) => ({ part, period, refs }))
  })
}
