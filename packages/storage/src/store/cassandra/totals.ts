import type { Client } from 'cassandra-driver'
import type { StreamPartId } from '@runnel/protocol'
import type { StreamPartUsage } from '../message-store.ts'
import { widthMsByLevel } from '../span-levels.ts'
import { forAll } from './concurrency.ts'
import type { Partitions } from './partitions.ts'
import { queryOptions } from './query-options.ts'

type Totals = Omit<StreamPartUsage, 'streamPartId'>

/** An append announced by the bucket's entry has succeeded or failed after this time; clocks may differ by part of it. */
export const settledMs = 60_000
/** Buckets whose totals are remembered. */
const maxRememberedBuckets = 100_000

const none: Totals = { batches: 0, messages: 0, bytes: 0, oldestMs: Infinity, newestMs: 0 }

/** Adds up the buckets. The totals of buckets that did not change lately are cached. */
export class BucketTotals {
  readonly #client: Client
  readonly #keyspace: string
  readonly #now: () => number
  readonly #remembered = new Map<string, { readonly writtenUs: number; readonly totals: Totals }>()

  constructor(client: Client, keyspace: string, now: () => number) {
    this.#client = client
    this.#keyspace = keyspace
    this.#now = now
  }

  /** Of a stream part. */
  async of(part: StreamPartId, partitions: Partitions): Promise<Totals> {
    let sum = none
    for (const level of widthMsByLevel.keys()) {
      const buckets: { readonly bucket: number; readonly writtenUs: number }[] = []
      for await (const one of partitions.buckets(level)) buckets.push(one)
      await forAll(buckets, async ({ bucket, writtenUs }) => {
        const totals = await this.#ofBucket(part, level, bucket, writtenUs)
        sum = add(sum, totals)
      })
    }
    return sum
  }

  async #ofBucket(part: StreamPartId, level: number, bucket: number, writtenUs: number): Promise<Totals> {
    const key = `${part} ${level} ${bucket}`
    const known = this.#remembered.get(key)
    if (known?.writtenUs === writtenUs) return known.totals
    this.#remembered.delete(key)
    const { rows } = await this.#client.execute(
      `SELECT count(*) AS batches, sum(CAST(messages AS bigint)) AS messages, sum(CAST(size AS bigint)) AS bytes,
         min(first_time) AS oldest, max(last_time) AS newest
       FROM ${this.#keyspace}.batches WHERE part = ? AND level = ? AND bucket = ?`,
      [part, level, bucket],
      queryOptions,
    )
    const number = (column: string) => Number(rows[0]?.get(column) ?? 0)
    const batches = number('batches')
    const [messages, bytes, newestMs] = [number('messages'), number('bytes'), number('newest')]
    const totals = batches === 0 ? none : { batches, messages, bytes, oldestMs: number('oldest'), newestMs }
    if (writtenUs / 1000 + settledMs >= this.#now()) return totals
    if (batches > 0) this.#remember(key, writtenUs, totals)
    else await this.#unlist(part, level, bucket, writtenUs)
    return totals
  }

  /** It was emptied too soon after it was written to be taken off the list then. What is written now lists it again, with a later time. */
  async #unlist(part: StreamPartId, level: number, bucket: number, writtenUs: number): Promise<void> {
    const query = `DELETE FROM ${this.#keyspace}.buckets USING TIMESTAMP ? WHERE part = ? AND level = ? AND bucket = ?`
    await this.#client.execute(query, [writtenUs, part, level, bucket], queryOptions)
  }

  #remember(key: string, writtenUs: number, totals: Totals): void {
    if (this.#remembered.size >= maxRememberedBuckets) this.#remembered.clear()
    this.#remembered.set(key, { writtenUs, totals })
  }
}

function add(a: Totals, b: Totals): Totals {
  return {
    batches: a.batches + b.batches,
    messages: a.messages + b.messages,
    bytes: a.bytes + b.bytes,
    oldestMs: Math.min(a.oldestMs, b.oldestMs),
    newestMs: Math.max(a.newestMs, b.newestMs),
  }
}
