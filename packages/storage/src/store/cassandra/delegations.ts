import type { Client } from 'cassandra-driver'
import type { DelegationRef, MessageBatch, StreamPartId } from '@runnel/protocol'
import { delegationPlaceOf, type EncodedDelegations } from '../stored-delegations.ts'
import { forAll } from './concurrency.ts'
import { queryOptions } from './query-options.ts'

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
      queryOptions,
    ),
  )
  const insert = `INSERT INTO ${keyspace}.delegations (part, period, ref, bytes) VALUES (?, ?, ?, ?)`
  const rows = periods.flatMap(({ part, period, refs }) => refs.map((ref) => [part, period, ref] as const))
  await forAll(rows, ([part, period, ref]) =>
    client.execute(insert, [part, period, ref, Buffer.from(delegations.get(ref) ?? [])], queryOptions),
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
    const { rows } = await client.execute(query, [...lookUp], queryOptions)
    for (const row of rows) found.set(row.get('ref') as DelegationRef, row.get('bytes') as Uint8Array)
  })
  return found
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
