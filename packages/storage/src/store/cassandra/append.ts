import type { Client } from 'cassandra-driver'
import {
  contradictionOf,
  decodeBatch,
  toStreamPartId,
  type MessageBatch,
  type StreamPartId,
} from '@runnel/protocol'
import type { Commit } from '../group-commit.ts'
import { levelOf } from '../span-levels.ts'
import { countedBytes, delegationOf, type EncodedDelegations } from '../stored-delegations.ts'
import { forAll } from './concurrency.ts'
import { writeDelegations } from './delegations.ts'
import { noteForgetting } from './forget-delegations.ts'
import { listKeyChains } from './key-chains.ts'
import { noteNewest } from './newest.ts'
import { queryOptions } from './query-options.ts'
import { bucketOf } from './stored-batch.ts'

interface Statement {
  readonly query: string
  readonly params: readonly unknown[]
}

interface Bucket {
  readonly part: StreamPartId
  readonly level: number
  readonly bucket: number
  /** By their key in the bucket; one batch each. */
  readonly batches: Map<string, MessageBatch>
}

/** Bytes in one request; Cassandra warns above 5 KiB in a batch and refuses above 50 KiB, except for a single row. */
const maxRequestBytes = 16 * 1024
const options = { ...queryOptions, logged: false }

/** Keys looked up in one request; of fewer the last is repeated, so that there are few statements to prepare. */
const lookUpSizes = [1, 8, 64]

/**
 * Writes batches; durable in as many copies as the consistency says when it resolves. A batch that contradicts a stored one of
 * the same place is written only if it wins. Returns how many contradicted one. Two nodes that write both at the same moment can
 * leave either; appending the other again repairs that.
 */
export async function appendBatches(
  client: Client,
  keyspace: string,
  { batches, delegations }: Commit,
): Promise<number> {
  const buckets = new Map<string, Bucket>()
  let contradictions = 0
  for (const bytes of batches) if (!place(buckets, decodeBatch(bytes))) contradictions++
  await forAll(buckets.values(), async (bucket) => {
    contradictions += await dropLosers(client, keyspace, bucket)
  })
  // What is in a bucket that is not listed would not be found, so that comes first.
  const parts = new Set([...buckets.values()].map(({ part }) => part))
  await forAll(parts, (part) =>
    client.execute(`INSERT INTO ${keyspace}.parts (part) VALUES (?)`, [part], options),
  )
  await forAll(buckets.values(), (bucket) => listBucket(client, keyspace, bucket))
  const added = [...buckets.values()].flatMap(({ batches }) => [...batches.values()])
  await writeDelegations(client, keyspace, added, delegations)
  await listKeyChains(client, keyspace, added, delegations)
  await noteNewest(client, keyspace, added)
  const groups = [...buckets.values()].flatMap((bucket) => groupsOf(bucket, delegations, keyspace))
  await forAll(groups, (statements) =>
    client.batch(
      statements.map(({ query, params }) => ({ query, params: [...params] })),
      options,
    ),
  )
  return contradictions
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

/** False for a batch that contradicts another of the same append; the one that counts stays. */
function place(buckets: Map<string, Bucket>, batch: MessageBatch): boolean {
  const { chain, messages } = batch
  const [first, last] = [messages[0], messages.at(-1)]
  if (first === undefined || last === undefined) return true
  const part = toStreamPartId(chain.streamId, chain.partition)
  const level = levelOf(last.timestamp - first.timestamp)
  const number = bucketOf(first.timestamp)
  const key = `${part} ${level} ${number}`
  const bucket = buckets.get(key) ?? { part, level, bucket: number, batches: new Map<string, MessageBatch>() }
  buckets.set(key, bucket)
  const batchKey = rowKeyOf(batch).join(' ')
  const other = bucket.batches.get(batchKey)
  const contradiction = other && contradictionOf(other, batch)
  bucket.batches.set(batchKey, contradiction?.winner ?? batch)
  return contradiction === undefined
}

/** Leaves out what a stored batch wins over, and what is stored already. Gives how many contradict a stored one. */
async function dropLosers(
  client: Client,
  keyspace: string,
  { part, level, bucket, batches }: Bucket,
): Promise<number> {
  const keys = [...batches.values()].map(rowKeyOf)
  const chunks: (readonly (string | number)[])[][] = []
  for (let i = 0; i < keys.length; i += 64) chunks.push(keys.slice(i, i + 64))
  let contradictions = 0
  const replaced: { readonly firstTime: number }[] = []
  await forAll(chunks, async (chunk) => {
    const size = lookUpSizes.find((one) => one >= chunk.length) ?? chunk.length
    const padded = Array.from({ length: size }, (_, i) => chunk[Math.min(i, chunk.length - 1)] ?? [])
    const query = `SELECT bytes FROM ${keyspace}.batches WHERE part = ? AND level = ? AND bucket = ?
      AND (first_time, first_number, last_time, last_number, publisher, chain)
      IN (${padded.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')})`
    const { rows } = await client.execute(query, [part, level, bucket, ...padded.flat()], options)
    for (const row of rows) {
      const stored = decodeBatch(row.get('bytes') as Uint8Array)
      const key = rowKeyOf(stored).join(' ')
      const batch = batches.get(key)
      if (batch === undefined) continue
      const contradiction = contradictionOf(stored, batch)
      if (contradiction !== undefined) contradictions++
      if (contradiction?.winner !== batch) batches.delete(key)
      else if (stored.delegationRef !== undefined)
        replaced.push({ firstTime: stored.messages[0]?.timestamp ?? 0 })
    }
  })
  await noteForgetting({ client, keyspace }, part, replaced, true)
  return contradictions
}

/** The columns of a batch's key within its bucket. */
function rowKeyOf({ chain, messages }: MessageBatch): (string | number)[] {
  const places = [messages[0], messages.at(-1)].flatMap((message) => [
    message?.timestamp ?? 0,
    message?.sequenceNumber ?? 0,
  ])
  return [...places, chain.publisherId, chain.messageChainId]
}

/** Statements that are sent at once. */
function groupsOf(
  { part, level, bucket, batches }: Bucket,
  delegations: EncodedDelegations,
  keyspace: string,
): Statement[][] {
  const groups: Statement[][] = []
  let groupBytes = Infinity
  for (const batch of batches.values()) {
    const { bytes, messages } = batch
    groupBytes += bytes.length
    if (groupBytes > maxRequestBytes) {
      groups.push([])
      groupBytes = bytes.length
    }
    groups.at(-1)?.push({
      query: `INSERT INTO ${keyspace}.batches (part, level, bucket, first_time, first_number, last_time, last_number,
        publisher, chain, messages, size, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      params: [
        ...[part, level, bucket],
        ...rowKeyOf(batch),
        ...[messages.length, countedBytes(batch, delegationOf(batch, delegations)), Buffer.from(bytes)],
      ],
    })
  }
  return groups
}
