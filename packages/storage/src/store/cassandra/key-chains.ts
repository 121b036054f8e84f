import type { Client } from 'cassandra-driver'
import {
  isKeyPart,
  toStreamPartId,
  type MessageBatch,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { levelOf } from '../span-levels.ts'
import { countedBytes, delegationOf, type EncodedDelegations } from '../stored-delegations.ts'
import { forAll } from './concurrency.ts'
import { pagedOptions, queryOptions } from './query-options.ts'
import { bucketOf, keyOf, toBatch, type Filter, type StoredBatch } from './stored-batch.ts'

/** A message chain of a key part. */
export interface KeyChain {
  readonly part: StreamPartId
  readonly publisherId: NodeId
  readonly messageChainId: string
}

/** Which chain a filter lets pass alone; undefined where there is no list of it. */
export function keyChainOf(part: StreamPartId, filter: Filter): KeyChain | undefined {
  const { publisherId, messageChainId } = filter
  if (!isKeyPart(part) || publisherId === undefined || messageChainId === undefined) return undefined
  return { part, publisherId, messageChainId }
}

/** Lists the batches of key parts by their chains, to be done before the batches are written. */
export async function listKeyChains(
  client: Client,
  keyspace: string,
  batches: readonly MessageBatch[],
  delegations: EncodedDelegations,
): Promise<void> {
  const query = `INSERT INTO ${keyspace}.key_chains (part, publisher, chain, level, bucket, first_time, first_number,
    last_time, last_number, messages, size) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
  const rows = batches.flatMap((batch) => {
    const { chain, messages } = batch
    const part = toStreamPartId(chain.streamId, chain.partition)
    const [first, last] = [messages[0], messages.at(-1)]
    if (!isKeyPart(part) || first === undefined || last === undefined) return []
    const places = [first, last].flatMap(({ timestamp, sequenceNumber }) => [timestamp, sequenceNumber])
    const where = [levelOf(last.timestamp - first.timestamp), bucketOf(first.timestamp)]
    const size = countedBytes(batch, delegationOf(batch, delegations))
    return [[part, chain.publisherId, chain.messageChainId, ...where, ...places, messages.length, size]]
  })
  await forAll(rows, (row) => client.execute(query, row, queryOptions))
}

/** The batches listed of a chain that begin at a time or later, ordered by their first messages. */
export async function* readKeyChain(
  client: Client,
  keyspace: string,
  { part, publisherId, messageChainId }: KeyChain,
  order: 'ASC' | 'DESC',
  fromMs = 0,
): AsyncGenerator<StoredBatch> {
  const columns = ['first_time', 'first_number', 'last_time', 'last_number'].map(
    (column) => `${column} ${order}`,
  )
  const query = `SELECT * FROM ${keyspace}.key_chains WHERE part = ? AND publisher = ? AND chain = ?
    AND first_time >= ? ORDER BY ${columns.join(', ')}`
  const params = [part, publisherId, messageChainId, fromMs]
  for await (const row of await client.execute(query, params, pagedOptions))
    yield toBatch(Number(row.get('level')), Number(row.get('bucket')), row)
}

/** Takes a batch off the list of its chain, to be done after it was deleted. */
export async function unlistKeyChain(
  client: Client,
  keyspace: string,
  part: StreamPartId,
  batch: StoredBatch,
): Promise<void> {
  if (!isKeyPart(part)) return
  const [firstTime = 0, firstNumber = 0, lastTime = 0, lastNumber = 0, publisher = '', chain = ''] =
    keyOf(batch)
  const query = `DELETE FROM ${keyspace}.key_chains WHERE part = ? AND publisher = ? AND chain = ?
    AND first_time = ? AND first_number = ? AND last_time = ? AND last_number = ?`
  await client.execute(
    query,
    [part, publisher, chain, firstTime, firstNumber, lastTime, lastNumber],
    queryOptions,
  )
}
