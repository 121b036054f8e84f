import type { Client } from 'cassandra-driver'
import type { StreamPartId } from '@runnel/protocol'
import type { PrunedBatches, PruneLimits } from '../message-store.ts'
import { firstRef, lastRef } from '../last-messages.ts'
import { listBucket } from './append.ts'
import { forAll } from './concurrency.ts'
import { noteForgetting } from './forget-delegations.ts'
import { unlistKeyChain } from './key-chains.ts'
import { forgetNewest, textOf, trimNewest } from './newest.ts'
import type { Partitions } from './partitions.ts'
import { queryOptions } from './query-options.ts'
import { replacedCursors } from './replaced-cursors.ts'
import { keyOf, type StoredBatch } from './stored-batch.ts'
import { settledMs } from './totals.ts'

export interface PruneModules {
  readonly client: Client
  readonly keyspace: string
  readonly partitions: Partitions
  readonly now: () => number
}

/** What was deleted. */
interface Pruned {
  readonly pruned: PrunedBatches
  /** All that began before was deleted, but last values and what lasts longer; when nothing is left after it, the end of time. */
  readonly reachedMs: number
}

/** Batches found and deleted at once. */
const maxPrunedAtOnce = 1000

/** Deletes cursors that are replaced, batches that end before `olderThanMs`, and then the oldest until `excessBytes` are gone. */
export async function pruneBatches(
  modules: PruneModules,
  part: StreamPartId,
  {
    olderThanMs = 0,
    excessBytes,
    values,
    replacedBeforeMs,
  }: Pick<PruneLimits, 'olderThanMs' | 'values' | 'replacedBeforeMs'> & { readonly excessBytes: number },
): Promise<Pruned> {
  const total = { batches: 0, bytes: 0 }
  let goneBeforeMs: number | undefined
  let reachedMs = lastRef.timestamp
  const { client, keyspace } = modules
  const newest = await trimNewest(client, keyspace, part, values)
  const spared: StoredBatch[] = []
  let doomed: StoredBatch[] = []
  const deleteThem = async (isInOrder: boolean) => {
    await noteForgetting(modules, part, doomed, !isInOrder)
    await forAll(doomed, (batch) => deleteBatch(modules, part, batch))
    await forAll(bucketsOf(doomed), (bucket) => tidyBucket(modules, part, bucket))
    doomed = []
  }
  const doom = async (batch: StoredBatch, isInOrder = true) => {
    await forgetNewest(client, keyspace, part, newest.get(textOf(batch)) ?? [])
    doomed.push(batch)
    total.batches++
    total.bytes += batch.size
    if (doomed.length === maxPrunedAtOnce) await deleteThem(isInOrder)
  }
  const all = () => modules.partitions.overlapping({ from: firstRef, to: lastRef })
  if (replacedBeforeMs !== undefined)
    for await (const batch of replacedCursors(all(), replacedBeforeMs)) await doom(batch, false)
  await deleteThem(false)
  for await (const batch of all()) {
    const isOver = total.bytes < excessBytes
    if (!isOver && batch.firstTime >= olderThanMs) {
      reachedMs = batch.firstTime
      break
    }
    if (!isOver && batch.lastTime >= olderThanMs) continue
    if (values !== undefined && newest.has(textOf(batch))) {
      spared.push(batch)
      continue
    }
    if (isOver) goneBeforeMs = batch.firstTime + 1
    await doom(batch)
  }
  for (const batch of spared) {
    if (total.bytes >= excessBytes) break
    await doom(batch)
  }
  await deleteThem(true)
  return { pruned: { ...total, goneBeforeMs }, reachedMs }
}

type Bucket = Pick<StoredBatch, 'level' | 'bucket'>

function bucketsOf(batches: readonly StoredBatch[]): Iterable<Bucket> {
  return new Map(batches.map((batch) => [`${batch.level} ${batch.bucket}`, batch])).values()
}

async function deleteBatch(
  { client, keyspace }: PruneModules,
  part: StreamPartId,
  batch: StoredBatch,
): Promise<void> {
  await client.execute(
    `DELETE FROM ${keyspace}.batches WHERE part = ? AND level = ? AND bucket = ? AND first_time = ? AND first_number = ?
     AND last_time = ? AND last_number = ? AND publisher = ? AND chain = ?`,
    [part, batch.level, batch.bucket, ...keyOf(batch)],
    queryOptions,
  )
  await unlistKeyChain(client, keyspace, part, batch)
}

/**
 * Takes an emptied bucket off the list; of another, says that it changed. An append that listed it lately may still be
 * under way: its entry is newer than the deletion, and stays.
 */
async function tidyBucket(
  modules: PruneModules,
  part: StreamPartId,
  { level, bucket }: Bucket,
): Promise<void> {
  const { client, keyspace, now } = modules
  const listedBeforeUs = (now() - settledMs) * 1000
  const where = 'WHERE part = ? AND level = ? AND bucket = ?'
  const { rowLength } = await client.execute(
    `SELECT first_time FROM ${keyspace}.batches ${where} LIMIT 1`,
    [part, level, bucket],
    queryOptions,
  )
  if (rowLength > 0) {
    await listBucket(client, keyspace, { part, level, bucket })
    return
  }
  const query = `DELETE FROM ${keyspace}.buckets USING TIMESTAMP ? ${where}`
  await client.execute(query, [listedBeforeUs, part, level, bucket], queryOptions)
}
