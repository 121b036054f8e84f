import type { Client, types } from 'cassandra-driver'
import { compareRefs, laterPlace, limits, type MessageRef, type StreamPartId } from '@runnel/protocol'
import { lastRef, type RefRange } from '../last-messages.ts'
import type { BatchPlace } from '../page-cursor.ts'
import { widthMsByLevel } from '../span-levels.ts'
import { inSequence, mergeAsync } from './concurrency.ts'
import { keyChainOf, readKeyChain, type KeyChain } from './key-chains.ts'
import type { BatchKey } from './newest.ts'
import { queryOptions } from './query-options.ts'
import { bucketOf, keyOf, toBatch, type Filter, type StoredBatch } from './stored-batch.ts'

/** Rows fetched at once when they hold no bytes. For rows with bytes: at first, until their size is known. */
const [maxFetchRows, minFetchRows] = [1000, 8]
/** Bytes fetched at once, about. */
const fetchBytes = 1024 * 1024

const key = 'first_time, first_number, last_time, last_number, publisher, chain'
const partition = 'part = ? AND level = ? AND bucket = ?'
const beforeAll = [-1, 0, 0, 0, '', ''] as const

/** Reads the batches of one stream part, from partition to partition, as they are needed. */
export class Partitions {
  readonly #client: Client
  readonly #keyspace: string
  readonly #part: StreamPartId

  constructor(client: Client, keyspace: string, part: StreamPartId) {
    this.#client = client
    this.#keyspace = keyspace
    this.#part = part
  }

  /** All that reach into a range, in the order of pages; after `after` when given. */
  overlapping(
    range: RefRange,
    filter: Filter = {},
    {
      withBytes = false,
      after,
    }: { readonly withBytes?: boolean; readonly after?: BatchPlace | undefined } = {},
  ): AsyncGenerator<StoredBatch> {
    const keyChain = keyChainOf(this.#part, filter)
    if (keyChain !== undefined) return this.#overlappingInChain(keyChain, range, withBytes, after)
    const levels = widthMsByLevel.map((widthMs, level) =>
      this.#overlappingOf(level, widthMs, range, filter, withBytes, after),
    )
    return mergeAsync(levels, compareStored)
  }

  /** All batches, the newest first message first. */
  backwards(filter: Filter = {}): AsyncGenerator<StoredBatch> {
    const keyChain = keyChainOf(this.#part, filter)
    if (keyChain !== undefined) return this.#backwardsInChain(keyChain)
    return mergeAsync(
      widthMsByLevel.map((_, level) => this.#backwardsOf(level, filter)),
      (a, b) => compareStored(b, a),
    )
  }

  async newest(filter: Filter = {}): Promise<MessageRef | undefined> {
    let newest: MessageRef | undefined
    const keyChain = keyChainOf(this.#part, filter)
    if (keyChain !== undefined) {
      for await (const batch of this.#backwardsInChain(keyChain)) {
        if (newest !== undefined && batch.firstTime + limits.maxBatchSpanMs < newest.timestamp) break
        newest = laterPlace(newest, endOf(batch))
      }
      return newest
    }
    for (const [level, widthMs] of widthMsByLevel.entries()) {
      for await (const batch of this.#backwardsOf(level, filter)) {
        if (newest !== undefined && batch.firstTime + widthMs < newest.timestamp) break
        newest = laterPlace(newest, endOf(batch))
      }
    }
    return newest
  }

  /** When batches of each minute of a level were last appended, in microseconds. */
  async *buckets(level: number, from = 0, to = Number.MAX_SAFE_INTEGER, order: 'ASC' | 'DESC' = 'ASC') {
    const query = `SELECT bucket, WRITETIME(written) AS written FROM ${this.#keyspace}.buckets
      WHERE part = ? AND level = ? AND bucket >= ? AND bucket <= ? ORDER BY bucket ${order}`
    for await (const row of this.#rows(query, [this.#part, level, from, to], () => maxFetchRows)) {
      yield { bucket: Number(row.get('bucket')), writtenUs: Number(row.get('written')) }
    }
  }

  async bytesOf({ level, bucket, ...batch }: BatchKey): Promise<Uint8Array | undefined> {
    const query = `SELECT bytes FROM ${this.#keyspace}.batches WHERE ${partition} AND (${key}) = (?, ?, ?, ?, ?, ?)`
    const { rows } = await this.#client.execute(query, [this.#part, level, bucket, ...keyOf(batch)], {
      prepare: true,
    })
    return rows[0]?.get('bytes') as Uint8Array | undefined
  }

  /** One that is listed and not there was not appended to the end. */
  async *#overlappingInChain(
    keyChain: KeyChain,
    { from, to }: RefRange,
    withBytes: boolean,
    after: BatchPlace | undefined,
  ): AsyncGenerator<StoredBatch> {
    const fromMs = Math.max(0, from.timestamp - limits.maxBatchSpanMs)
    for await (const batch of readKeyChain(this.#client, this.#keyspace, keyChain, 'ASC', fromMs)) {
      const first = { timestamp: batch.firstTime, sequenceNumber: batch.firstNumber }
      if (compareRefs(first, to) > 0) return
      if (compareRefs(endOf(batch), from) < 0) continue
      const order = after && (compareRefs(first, after.first) || compareRefs(endOf(batch), after.last))
      if (order !== undefined && order <= 0) continue
      const bytes = withBytes ? await this.bytesOf(batch) : undefined
      if (!withBytes || bytes !== undefined) yield { ...batch, bytes }
    }
  }

  #backwardsInChain(keyChain: KeyChain): AsyncGenerator<StoredBatch> {
    return readKeyChain(this.#client, this.#keyspace, keyChain, 'DESC')
  }

  async *#overlappingOf(
    level: number,
    widthMs: number,
    { from, to }: RefRange,
    filter: Filter,
    withBytes: boolean,
    after: BatchPlace | undefined,
  ): AsyncGenerator<StoredBatch> {
    const start = Math.max(0, from.timestamp - widthMs)
    const isAfter = after !== undefined && after.first.timestamp >= start
    const begin = isAfter ? placeKey(after) : [start, ...beforeAll.slice(1)]
    const firstBucket = bucketOf(isAfter ? after.first.timestamp : start)
    const buckets = this.buckets(level, firstBucket, bucketOf(to.timestamp))
    const batches = inSequence(buckets, ({ bucket }) =>
      this.#batches(level, bucket, bucket === firstBucket ? begin : beforeAll, withBytes),
    )
    for await (const batch of batches) {
      if (compareRefs({ timestamp: batch.firstTime, sequenceNumber: batch.firstNumber }, to) > 0) return
      if (compareRefs(endOf(batch), from) >= 0 && matches(batch, filter)) yield batch
    }
  }

  async *#backwardsOf(level: number, filter: Filter): AsyncGenerator<StoredBatch> {
    const buckets = this.buckets(level, 0, bucketOf(lastRef.timestamp), 'DESC')
    const batches = inSequence(buckets, ({ bucket }) => this.#backwardsIn(level, bucket))
    for await (const batch of batches) if (matches(batch, filter)) yield batch
  }

  async *#backwardsIn(level: number, bucket: number): AsyncGenerator<StoredBatch> {
    const query = `SELECT ${key}, messages, size FROM ${this.#keyspace}.batches WHERE ${partition}
      ORDER BY first_time DESC, first_number DESC, last_time DESC, last_number DESC, publisher DESC, chain DESC`
    const rows = this.#rows(query, [this.#part, level, bucket], () => maxFetchRows)
    for await (const row of rows) yield toBatch(level, bucket, row)
  }

  async *#batches(
    level: number,
    bucket: number,
    after: readonly (string | number)[],
    withBytes: boolean,
  ): AsyncGenerator<StoredBatch> {
    const query = `SELECT ${key}, messages, size${withBytes ? ', bytes' : ''} FROM ${this.#keyspace}.batches
      WHERE ${partition} AND (${key}) > (?, ?, ?, ?, ?, ?)`
    let [rows, bytes] = [0, 0]
    const fetchRows = () => {
      if (!withBytes) return maxFetchRows
      return rows === 0
        ? minFetchRows
        : Math.max(1, Math.min(maxFetchRows, Math.floor((fetchBytes * rows) / bytes)))
    }
    for await (const row of this.#rows(query, [this.#part, level, bucket, ...after], fetchRows)) {
      const batch = toBatch(level, bucket, row)
      rows++
      bytes += batch.size
      yield batch
    }
  }

  async *#rows(
    query: string,
    parameters: readonly unknown[],
    fetchRows: () => number,
  ): AsyncGenerator<types.Row> {
    let pageState: string | undefined
    do {
      const options = { ...queryOptions, fetchSize: fetchRows() }
      const page = await this.#client.execute(
        query,
        [...parameters],
        pageState ? { ...options, pageState } : options,
      )
      yield* page.rows
      pageState = page.pageState
    } while (pageState)
  }
}

function placeKey({ first, last, publisherId, messageChainId }: BatchPlace): (string | number)[] {
  return [first, last]
    .flatMap(({ timestamp, sequenceNumber }): (string | number)[] => [timestamp, sequenceNumber])
    .concat(publisherId, messageChainId)
}

function endOf({ lastTime, lastNumber }: StoredBatch): MessageRef {
  return { timestamp: lastTime, sequenceNumber: lastNumber }
}

function matches({ publisher, name }: StoredBatch, { publisherId, messageChainId }: Filter): boolean {
  return (
    (publisherId === undefined || publisherId === publisher) &&
    (messageChainId === undefined || messageChainId === name)
  )
}

function compareStored(a: StoredBatch, b: StoredBatch): number {
  return (
    a.firstTime - b.firstTime ||
    a.firstNumber - b.firstNumber ||
    a.lastTime - b.lastTime ||
    a.lastNumber - b.lastNumber ||
    (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : 0)
  )
}
