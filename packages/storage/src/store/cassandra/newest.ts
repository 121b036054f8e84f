import type { Client } from 'cassandra-driver'
import { keyTagIn, toNodeId, toStreamPartId, type MessageBatch, type StreamPartId } from '@runnel/protocol'
import { levelOf } from '../span-levels.ts'
import type { KeptValues } from '../message-store.ts'
import { forAll } from './concurrency.ts'
import { pagedOptions, queryOptions } from './query-options.ts'
import { bucketOf, keyOf, type StoredBatch } from './stored-batch.ts'

/** Partitions of a stream part's keys, by the first bits of the tag. */
const shards = Array.from({ length: 16 }, (_, shard) => shard)

/** Where a batch is. */
export type BatchKey = Pick<
  StoredBatch,
  'level' | 'bucket' | 'firstTime' | 'firstNumber' | 'lastTime' | 'lastNumber' | 'publisher' | 'name'
>

/** The newest message of a key, and the batch that it is in. */
export interface NewestOfKey {
  readonly tag: Uint8Array
  readonly timeMs: number
  readonly batch: BatchKey
}

/** The same text for the same batch. */
export function textOf(batch: BatchKey): string {
  return JSON.stringify([batch.level, batch.bucket, ...keyOf(batch)])
}

/**
 * Takes note of the keys in batches, to be done before these are written. Cassandra keeps the write with the latest timestamp, here the
 * message's, and of two with the same the greater value: nothing has to be read.
 */
export async function noteNewest(
  client: Client,
  keyspace: string,
  batches: readonly MessageBatch[],
): Promise<void> {
  const query = `INSERT INTO ${keyspace}.newest (part, shard, tag, value) VALUES (?, ?, ?, ?) USING TIMESTAMP ?`
  await forAll(batches.flatMap(rowsOf), (row) => client.execute(query, row, queryOptions))
}

function rowsOf({ chain, messages }: MessageBatch): unknown[][] {
  const part = toStreamPartId(chain.streamId, chain.partition)
  const [first, last] = [messages[0], messages.at(-1)]
  if (first === undefined || last === undefined) return []
  const batch = textOf({
    level: levelOf(last.timestamp - first.timestamp),
    bucket: bucketOf(first.timestamp),
    ...{ firstTime: first.timestamp, firstNumber: first.sequenceNumber },
    ...{ lastTime: last.timestamp, lastNumber: last.sequenceNumber },
    ...{ publisher: chain.publisherId, name: chain.messageChainId },
  })
  return messages.flatMap((message) => {
    const tag = keyTagIn(message)
    if (tag === undefined) return []
    const { timestamp, sequenceNumber, publisherId } = message
    const place = [hex(timestamp, 12), hex(sequenceNumber, 8), publisherId].join(' ')
    return [[part, shardOf(tag), Buffer.from(tag), `${place} ${batch}`, timestamp * 1000]]
  })
}

/** The newest message of each key, or of one. */
export async function* readNewest(
  client: Client,
  keyspace: string,
  part: StreamPartId,
  tag?: Uint8Array,
): AsyncGenerator<NewestOfKey> {
  const query = `SELECT tag, value FROM ${keyspace}.newest WHERE part = ? AND shard = ?`
  for (const shard of tag === undefined ? shards : [shardOf(tag)]) {
    const params = tag === undefined ? [part, shard] : [part, shard, Buffer.from(tag)]
    const text = tag === undefined ? query : `${query} AND tag = ?`
    for await (const row of await client.execute(text, params, pagedOptions))
      yield newestOf(row.get('tag') as Uint8Array, String(row.get('value')))
  }
}

function newestOf(tag: Uint8Array, value: string): NewestOfKey {
  const [time = '', , , ...batch] = value.split(' ')
  const [level, bucket, firstTime, firstNumber, lastTime, lastNumber, publisher, name] = JSON.parse(
    batch.join(' '),
  ) as [number, number, number, number, number, number, string, string]
  const places = { level, bucket, firstTime, firstNumber, lastTime, lastNumber }
  return {
    tag,
    timeMs: Number.parseInt(time, 16),
    batch: { ...places, publisher: toNodeId(publisher), name },
  }
}

/** Forgets what is not to stay, by default nothing, and gives the rest by its batches. */
export async function trimNewest(
  client: Client,
  keyspace: string,
  part: StreamPartId,
  { fromMs, maxKeys }: KeptValues = { fromMs: 0, maxKeys: Infinity },
): Promise<ReadonlyMap<string, readonly NewestOfKey[]>> {
  const all: NewestOfKey[] = []
  for await (const newest of readNewest(client, keyspace, part)) all.push(newest)
  all.sort((a, b) => b.timeMs - a.timeMs)
  const stays = all.filter(({ timeMs }, i) => timeMs >= fromMs && i < maxKeys)
  await forgetNewest(client, keyspace, part, all.slice(stays.length))
  return Map.groupBy(stays, ({ batch }) => textOf(batch))
}

/** Forgets some, unless newer ones were written meanwhile. */
export async function forgetNewest(
  client: Client,
  keyspace: string,
  part: StreamPartId,
  some: Iterable<NewestOfKey>,
): Promise<void> {
  const query = `DELETE FROM ${keyspace}.newest USING TIMESTAMP ? WHERE part = ? AND shard = ? AND tag = ?`
  await forAll(some, ({ tag, timeMs }) =>
    client.execute(query, [timeMs * 1000, part, shardOf(tag), Buffer.from(tag)], queryOptions),
  )
}

function shardOf(tag: Uint8Array): number {
  return (tag[0] ?? 0) >> 4
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
