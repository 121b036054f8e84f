import type { Client } from 'cassandra-driver'
import { decodeBatch, type StreamPartId } from '@runnel/protocol'
import { firstRef, lastRef } from '../last-messages.ts'
import { periodOf, timesOfPeriod } from '../stored-delegations.ts'
import { forAll } from './concurrency.ts'
import type { Partitions } from './partitions.ts'
import { pagedOptions, queryOptions } from './query-options.ts'
import type { StoredBatch } from './stored-batch.ts'
import { settledMs } from './totals.ts'

interface ForgetModules {
  readonly client: Client
  readonly keyspace: string
  readonly partitions: Pick<Partitions, 'overlapping'>
  readonly now: () => number
}

/** References looked for at once among the batches of a period. */
const maxRefsAtOnce = 100_000
/** Periods looked up in one request. */
const lookUpSize = 64

/**
 * Takes note of the periods of batches that are about to be deleted or replaced, so that what no batch names any more is found, also after a
 * crash. `isDue`: with the next prune; else once what is deleted in order is past the period, of which the rest goes by then as a rule.
 */
export async function noteForgetting(
  { client, keyspace }: Pick<ForgetModules, 'client' | 'keyspace'>,
  part: StreamPartId,
  batches: readonly Pick<StoredBatch, 'firstTime'>[],
  isDue: boolean,
): Promise<void> {
  const periods = [...new Set(batches.map(({ firstTime }) => periodOf(firstTime)))]
  const columns = isDue ? 'part, period, due) VALUES (?, ?, true' : 'part, period) VALUES (?, ?'
  for (let i = 0; i < periods.length; i += lookUpSize) {
    const query = `SELECT period FROM ${keyspace}.delegation_periods WHERE part = ? AND period IN ?`
    const { rows } = await client.execute(query, [part, periods.slice(i, i + lookUpSize)], queryOptions)
    await forAll(rows, (row) =>
      client.execute(
        `INSERT INTO ${keyspace}.delegation_checks (${columns})`,
        [part, row.get('period')],
        queryOptions,
      ),
    )
  }
}

/**
 * Deletes the delegations of periods before the one in which the oldest batch left begins, and of noted periods those that no batch names.
 * What was written lately stays until a later time: the batches that go with it may still be under way. `reachedMs`: what began before was
 * deleted, but for some that stay.
 */
export async function forgetDelegations(
  modules: ForgetModules,
  part: StreamPartId,
  reachedMs: number,
): Promise<void> {
  const { client, keyspace, partitions, now } = modules
  const periods = `SELECT period FROM ${keyspace}.delegation_periods WHERE part = ? AND period < ?`
  const listed = await client.execute(`${periods} LIMIT 1`, [part, Number.MAX_SAFE_INTEGER], queryOptions)
  if (listed.rowLength === 0) return
  const settledUs = (now() - settledMs) * 1000
  const oldest = await partitions.overlapping({ from: firstRef, to: lastRef }).next()
  const before = oldest.done ? Number.MAX_SAFE_INTEGER : periodOf(oldest.value.firstTime)
  const tables = {
    delegations: settledUs,
    // A period is listed a moment before what is in it is written, and has to stay as long.
    delegation_periods: settledUs - settledMs * 1000,
    delegation_checks: now() * 1000,
  }
  for await (const row of await client.execute(periods, [part, before], pagedOptions)) {
    for (const [table, writtenBeforeUs] of Object.entries(tables))
      await forgetPeriod(modules, table, part, Number(row.get('period')), writtenBeforeUs)
  }
  await forgetUnnamed(modules, part, reachedMs)
}

async function forgetPeriod(
  { client, keyspace }: ForgetModules,
  table: string,
  part: StreamPartId,
  period: number,
  writtenBeforeUs: number,
): Promise<void> {
  const query = `DELETE FROM ${keyspace}.${table} USING TIMESTAMP ? WHERE part = ? AND period = ?`
  await client.execute(query, [writtenBeforeUs, part, period], queryOptions)
}

/** Looks through the noted periods whose turn it is. One in which something is too recent stays noted. */
async function forgetUnnamed(modules: ForgetModules, part: StreamPartId, reachedMs: number): Promise<void> {
  const { client, keyspace, now } = modules
  const query = `SELECT period, due FROM ${keyspace}.delegation_checks WHERE part = ?`
  for await (const row of await client.execute(query, [part], pagedOptions)) {
    const period = Number(row.get('period'))
    if (row.get('due') !== true && period >= periodOf(reachedMs)) continue
    // Of before the period is read: what is written from then on may be named by what is not seen.
    const settledUs = (now() - settledMs) * 1000
    if (await forgetUnnamedOf(modules, part, period, settledUs))
      await forgetPeriod(modules, 'delegation_checks', part, period, settledUs)
  }
}

/** Deletes what no batch of a period names. False when something of that was written too recently, and stays. */
async function forgetUnnamedOf(
  modules: ForgetModules,
  part: StreamPartId,
  period: number,
  settledUs: number,
): Promise<boolean> {
  const { client, keyspace } = modules
  let isComplete = true
  const forget = async (writtenUs: ReadonlyMap<string, number>) => {
    const query = `DELETE FROM ${keyspace}.delegations USING TIMESTAMP ? WHERE part = ? AND period = ? AND ref = ?`
    await forAll(await withoutNamed(modules, period, writtenUs), async ([ref, us]) => {
      isComplete &&= us <= settledUs
      await client.execute(query, [settledUs, part, period, ref], queryOptions)
    })
  }
  let refs = new Map<string, number>()
  const query = `SELECT ref, WRITETIME(bytes) AS written FROM ${keyspace}.delegations WHERE part = ? AND period = ?`
  for await (const row of await client.execute(query, [part, period], pagedOptions)) {
    refs.set(String(row.get('ref')), Number(row.get('written')))
    if (refs.size < maxRefsAtOnce) continue
    await forget(refs)
    refs = new Map()
  }
  await forget(refs)
  return isComplete
}

/** Those of the references that no batch of the period names. Reads no further than until all are named. */
async function withoutNamed(
  { partitions }: ForgetModules,
  period: number,
  refs: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, number>> {
  const left = new Map(refs)
  if (left.size === 0) return left
  const { firstMs, lastMs } = timesOfPeriod(period)
  const range = { from: { ...firstRef, timestamp: firstMs }, to: { ...lastRef, timestamp: lastMs } }
  for await (const { firstTime, bytes } of partitions.overlapping(range, {}, { withBytes: true })) {
    if (bytes === undefined || periodOf(firstTime) !== period) continue
    const { delegationRef: ref } = decodeBatch(bytes)
    if (ref !== undefined && left.delete(ref) && left.size === 0) break
  }
  return left
}
