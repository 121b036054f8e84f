import type { Client } from 'cassandra-driver'
import { decodeBatch, toStreamPartId, type StreamPartId } from '@runnel/protocol'
import { levelOf } from '../span-levels.ts'
import { forAll } from './concurrency.ts'
import { bucketOf } from './partitions.ts'

interface Statement {
  readonly query: string
  readonly params: readonly unknown[]
}

interface Bucket {
  readonly part: StreamPartId
  readonly level: number
  readonly bucket: number
  /** Each a group of batches that are written at once. */
  readonly groups: { bytes: number; readonly statements: Statement[] }[]
}

/** Bytes in one request; Cassandra warns of more than 5 KiB in a batch and refuses more than 50 KiB, but for a single row. */
const maxRequestBytes = 16 * 1024
const options = { prepare: true, isIdempotent: true, logged: false }

/** Writes batches; durable in as many copies as the consistency says when it resolves. */
export async function appendBatches(
  client: Client,
  keyspace: string,
  batches: readonly Uint8Array[],
): Promise<void> {
  const buckets = new Map<string, Bucket>()
  for (const bytes of batches) place(buckets, keyspace, bytes)
  // What is in a bucket that is not listed would not be found, so that comes first.
  const parts = new Set([...buckets.values()].map(({ part }) => part))
  await forAll(parts, (part) =>
    client.execute(`INSERT INTO ${keyspace}.parts (part) VALUES (?)`, [part], options),
  )
  await forAll(buckets.values(), (bucket) => listBucket(client, keyspace, bucket))
  const groups = [...buckets.values()].flatMap((bucket) => bucket.groups)
  await forAll(groups, ({ statements }) =>
    client.batch(
      statements.map(({ query, params }) => ({ query, params: [...params] })),
      options,
    ),
  )
}

/** Says that there is something in a bucket, and that it changed. */
export function listBucket(
  client: Client,
  keyspace: string,
  { part, level, bucket }: Pick<Bucket, 'part' | 'level' | 'bucket'>,
): Promise<unknown> {
  const query = `INSERT INTO ${keyspace}.buckets (part, level, bucket, written) VALUES (?, ?, ?, true)`
  return client.execute(query, [part, level, bucket], options)
}

function place(buckets: Map<string, Bucket>, keyspace: string, bytes: Uint8Array): void {
  const { chain, messages } = decodeBatch(bytes)
  const [first, last] = [messages[0], messages.at(-1)]
  if (first === undefined || last === undefined) return
  const part = toStreamPartId(chain.streamId, chain.partition)
  const level = levelOf(last.timestamp - first.timestamp)
  const number = bucketOf(first.timestamp)
  const key = `${part} ${level} ${number}`
  const bucket = buckets.get(key) ?? { part, level, bucket: number, groups: [] }
  buckets.set(key, bucket)
  let group = bucket.groups.at(-1)
  if (group === undefined || group.bytes + bytes.length > maxRequestBytes) {
    bucket.groups.push((group = { bytes: 0, statements: [] }))
  }
  group.bytes += bytes.length
  group.statements.push({
    query: `INSERT INTO ${keyspace}.batches (part, level, bucket, first_time, first_number, last_time, last_number,
      publisher, chain, messages, size, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    params: [
      ...[part, level, number],
      ...[first.timestamp, first.sequenceNumber, last.timestamp, last.sequenceNumber],
      ...[chain.publisherId, chain.messageChainId],
      ...[messages.length, bytes.length, Buffer.from(bytes)],
    ],
  })
}
