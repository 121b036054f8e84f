import type { Client } from 'cassandra-driver'
import {
  compareRefs,
  decodeBatch,
  isSameBytes,
  keyTagIn,
  toStreamPartId,
  type Clock,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from '../../errors.ts'
import { GroupCommit } from '../group-commit.ts'
import { lastMessages, lookUpLimits } from '../last-messages.ts'
import type {
  LastMessages,
  MessageStore,
  PageCursor,
  PrunedBatches,
  PruneLimits,
  StoredPage,
  StoredRange,
  StreamPartUsage,
} from '../message-store.ts'
import type { StoredCard } from '../stored-cards.ts'
import { fromCursor, toCursor } from '../page-cursor.ts'
import { neededDelegations, noDelegations, type EncodedDelegations } from '../stored-delegations.ts'
import { appendBatches } from './append.ts'
import { CassandraCards } from './cards.ts'
import { toStoreError } from './cassandra-errors.ts'
import { readDelegations } from './delegations.ts'
import { forgetDelegations } from './forget-delegations.ts'
import { readNewest, textOf, type BatchKey } from './newest.ts'
import { Partitions } from './partitions.ts'
import { queryOptions } from './query-options.ts'
import type { Filter, StoredBatch } from './stored-batch.ts'
import { pruneBatches } from './prune.ts'
import { createSchema } from './schema.ts'
import { BucketTotals, settledMs } from './totals.ts'

export interface CassandraStoreOptions {
  /** Some nodes of the cluster to begin with: `host` or `host:port`. */
  readonly contactPoints: readonly string[]
  /** The data centre to talk to. */
  readonly localDataCenter: string
  /** Made, with three copies or as many as there are nodes, when there is none. a to z, digits and _. */
  readonly keyspace: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** How many copies must confirm a write, and are asked when reading. Default localQuorum: more than half in the data centre. */
  readonly consistency?: 'one' | 'localOne' | 'two' | 'quorum' | 'localQuorum' | 'eachQuorum' | 'all'
  /** Bytes of batches that may wait to be written; more is refused with STORE_OVERLOADED. */
  readonly maxWaitingBytes?: number
}

export interface CassandraStoreModules {
  readonly clock: Pick<Clock, 'now'>
}

/** Default of `CassandraStoreOptions`. @documented */
export const cassandraStoreDefaults = {
  /** Bytes of batches that may wait to be written. */
  maxWaitingBytes: 64 * 1024 * 1024,
}

interface Opened {
  readonly client: Client
  readonly totals: BucketTotals
  readonly cards: CassandraCards
}

/** No page is larger than this plus one batch, whatever is requested. */
const maxPageBytes = 8 * 1024 * 1024
/** Names that need no quotes. */
const keyspacePattern = /^[a-z][a-z0-9_]{0,47}$/

/**
 * Keeps batches in Apache Cassandra, for storage that outgrows one machine. Acknowledged batches are on as many nodes as
 * `consistency` says. Whether they are on disk depends on the cluster: with `commitlog_sync: batch` or `group` in cassandra.yaml
 * they are; with the default, `periodic`, the last 10 s can be lost when all machines that hold copies lose power at once.
 * Filters are applied here: reading one publisher costs as much as reading all.
 */
export class CassandraStore implements MessageStore {
  readonly location: string
  readonly #options: CassandraStoreOptions
  readonly #now: () => number
  readonly #commits: GroupCommit
  #contradictions = 0
  #opened: Opened | undefined
  #opening: Promise<void> | undefined

  constructor(options: CassandraStoreOptions, { clock }: CassandraStoreModules) {
    const { contactPoints, keyspace } = options
    this.location = `cassandra://${contactPoints.join(',')}/${keyspace}`
    this.#options = options
    this.#now = () => clock.now()
    this.#commits = new GroupCommit(
      { maxWaitingBytes: options.maxWaitingBytes ?? cassandraStoreDefaults.maxWaitingBytes },
      async (commit) => {
        this.#contradictions += await appendBatches(this.#requireOpen().client, keyspace, commit)
      },
    )
  }

  get contradictions(): number {
    return this.#contradictions
  }

  open(): Promise<void> {
    if (this.#opened !== undefined) return Promise.resolve()
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined))
    return this.#opening
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {})
    await this.#commits.idle()
    const opened = this.#opened
    this.#opened = undefined
    await opened?.client.shutdown()
  }

  append(batches: readonly MessageBatch[], delegations: EncodedDelegations = noDelegations): Promise<void> {
    return this.#do(async () => {
      if (batches.length === 0) return
      const needed = neededDelegations(batches, delegations)
      await this.#commits.add({ batches: batches.map(({ bytes }) => bytes), delegations: needed })
    })
  }

  delegationsOf(batches: readonly MessageBatch[]): Promise<EncodedDelegations> {
    return this.#do(({ client }) => readDelegations(client, this.#options.keyspace, batches))
  }

  read(
    range: StoredRange,
    { maxBytes, after }: { readonly maxBytes: number; readonly after?: PageCursor },
  ): Promise<StoredPage> {
    return this.#do(async () => {
      const options = { withBytes: true, after: after === undefined ? undefined : fromCursor(after) }
      const batches: Uint8Array[] = []
      let bytes = 0
      let last: StoredBatch | undefined
      for await (const batch of this.#partitions(range.streamPartId).overlapping(range, range, options)) {
        if (last !== undefined && bytes + batch.size > Math.min(maxBytes, maxPageBytes)) {
          return { batches, next: cursorOf(last) }
        }
        batches.push(this.#present(batch.bytes))
        bytes += batch.size
        last = batch
      }
      return { batches, next: undefined }
    })
  }

  last(
    streamPartId: StreamPartId,
    count: number,
    filter: Filter = {},
    signal?: AbortSignal,
  ): Promise<LastMessages | undefined> {
    return this.#do(async () => {
      const partitions = this.#partitions(streamPartId)
      return lastMessages(
        {
          newest: () => partitions.newest(filter),
          backwards: () => partitions.backwards(filter),
          overlapping: (range) => partitions.overlapping(range, filter),
          bytesIn: ({ size }) => size,
          messagesOf: (batch) => messagesOf(partitions, batch),
        },
        count,
        signal,
      )
    })
  }

  async *values(
    streamPartId: StreamPartId,
    { tag, maxBytes }: { readonly tag?: Uint8Array | undefined; readonly maxBytes: number },
  ): AsyncGenerator<readonly Uint8Array[], void> {
    const found = await this.#do(async ({ client }) => {
      const batches = new Map<string, BatchKey>()
      for await (const { batch } of readNewest(client, this.#options.keyspace, streamPartId, tag))
        batches.set(textOf(batch), batch)
      return [...batches.values()]
    })
    let page: Uint8Array[] = []
    let pageBytes = 0
    for (const batch of found) {
      const bytes = await this.#do(() => this.#partitions(streamPartId).bytesOf(batch))
      // One that is noted and not there was not appended to the end, or is deleted; or one that contradicts it counts.
      if (bytes === undefined || (tag !== undefined && !hasKey(bytes, tag))) continue
      page.push(bytes)
      pageBytes += bytes.length
      if (pageBytes < Math.min(maxBytes, maxPageBytes)) continue
      yield page
      page = []
      pageBytes = 0
    }
    if (page.length > 0) yield page
  }

  has(chain: MessageChain, place: MessageRef): Promise<boolean> {
    return this.#do(async () => {
      const partitions = this.#partitions(toStreamPartId(chain.streamId, chain.partition))
      let searched = 0
      for await (const batch of partitions.overlapping({ from: place, to: place }, chain)) {
        if (++searched > lookUpLimits.maxSearchedBatches) throw storageError('TOO_COSTLY')
        const messages = await messagesOf(partitions, batch)
        if (messages.some((message) => compareRefs(message, place) === 0)) return true
      }
      return false
    })
  }

  prune(
    streamPartId: StreamPartId,
    { olderThanMs, maxBytes, values, replacedBeforeMs }: PruneLimits,
  ): Promise<PrunedBatches> {
    return this.#do(async ({ client, totals }) => {
      const partitions = this.#partitions(streamPartId)
      const stored = maxBytes === undefined ? 0 : (await totals.of(streamPartId, partitions)).bytes
      const modules = { client, keyspace: this.#options.keyspace, partitions, now: this.#now }
      const excessBytes = stored - (maxBytes ?? 0)
      const limits = { olderThanMs, excessBytes, values, replacedBeforeMs }
      const { pruned, reachedMs } = await pruneBatches(modules, streamPartId, limits)
      await forgetDelegations(modules, streamPartId, reachedMs)
      return pruned
    })
  }

  usage(): Promise<readonly StreamPartUsage[]> {
    return this.#do(async ({ client, totals }) => {
      const usage: StreamPartUsage[] = []
      const query = `SELECT part FROM ${this.#options.keyspace}.parts`
      for await (const row of await client.execute(query, [], { prepare: true, autoPage: true })) {
        const streamPartId = String(row.get('part')) as StreamPartId
        const sum = await totals.of(streamPartId, this.#partitions(streamPartId))
        if (sum.batches > 0) usage.push({ streamPartId, ...sum })
        // Else every stream part that there ever was would be counted again each time.
        else await this.#unlist(client, streamPartId)
      }
      return usage
    })
  }

  getMark(name: string): Promise<string | undefined> {
    return this.#do(async ({ client }) => {
      const query = `SELECT value FROM ${this.#options.keyspace}.marks WHERE name = ?`
      const { rows } = await client.execute(query, [name], queryOptions)
      return rows[0] && String(rows[0].get('value'))
    })
  }

  setMark(name: string, value: string): Promise<void> {
    return this.#do(async ({ client }) => {
      const query = `INSERT INTO ${this.#options.keyspace}.marks (name, value) VALUES (?, ?)`
      await client.execute(query, [name, value], queryOptions)
    })
  }

  putCard(card: StoredCard): Promise<void> {
    return this.#do(({ cards }) => cards.putCard(card))
  }

  cardsOf(userIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Uint8Array>> {
    return this.#do(({ cards }) => cards.cardsOf(userIds))
  }

  vouchFor(userId: NodeId): Promise<void> {
    return this.#do(({ cards }) => cards.vouchFor(userId))
  }

  cardCount(): Promise<number> {
    return this.#do(({ cards }) => cards.cardCount())
  }

  pruneCards(maxCards: number): Promise<number> {
    return this.#do(({ cards }) => cards.pruneCards(maxCards))
  }

  async #open(): Promise<void> {
    const { contactPoints, localDataCenter, keyspace, username, password, consistency } = this.#options
    if (!keyspacePattern.test(keyspace))
      throw storageError('CONFIG_INVALID', `keyspace ${JSON.stringify(keyspace)}`)
    // Loaded here only: most nodes have another store, or none.
    const { Client: CassandraClient, types } = await import('cassandra-driver')
    const client = new CassandraClient({
      contactPoints: [...contactPoints],
      localDataCenter,
      ...(username === undefined ? {} : { credentials: { username, password: password ?? '' } }),
      queryOptions: { consistency: types.consistencies[consistency ?? 'localQuorum'] },
    })
    try {
      await client.connect()
      await createSchema(client, { keyspace, localDataCenter })
    } catch (error) {
      await client.shutdown()
      throw toStoreError(error, this.location)
    }
    const totals = new BucketTotals(client, keyspace, this.#now)
    this.#opened = { client, totals, cards: new CassandraCards(client, keyspace) }
  }

  async #do<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const opened = this.#requireOpen()
    try {
      return await work(opened)
    } catch (error) {
      throw toStoreError(error, this.location)
    }
  }

  /** Takes an empty stream part off the list, unless something was to be stored in it lately. */
  async #unlist(client: Client, streamPartId: StreamPartId): Promise<void> {
    const query = `DELETE FROM ${this.#options.keyspace}.parts USING TIMESTAMP ? WHERE part = ?`
    const settledUs = (this.#now() - settledMs) * 1000
    await client.execute(query, [settledUs, streamPartId], queryOptions)
  }

  #requireOpen() {
    if (this.#opened === undefined) throw storageError('STORE_UNAVAILABLE', `${this.location} is not open`)
    return this.#opened
  }

  #partitions(streamPartId: StreamPartId): Partitions {
    return new Partitions(this.#requireOpen().client, this.#options.keyspace, streamPartId)
  }

  #present(bytes: Uint8Array | undefined): Uint8Array {
    if (bytes === undefined) throw storageError('STORE_CORRUPT', `${this.location}: a batch without bytes`)
    return bytes
  }
}

/** None of a batch that is listed and not there: it was not appended to the end, or is deleted. */
async function messagesOf(partitions: Partitions, batch: StoredBatch): Promise<MessageBatch['messages']> {
  const bytes = await partitions.bytesOf(batch)
  return bytes === undefined ? [] : decodeBatch(bytes).messages
}

function hasKey(bytes: Uint8Array, tag: Uint8Array): boolean {
  return decodeBatch(bytes).messages.some((message) => {
    const own = keyTagIn(message)
    return own !== undefined && isSameBytes(own, tag)
  })
}

function rangeOf({ firstTime, firstNumber, lastTime, lastNumber }: StoredBatch) {
  return {
    from: { timestamp: firstTime, sequenceNumber: firstNumber },
    to: { timestamp: lastTime, sequenceNumber: lastNumber },
  }
}

function cursorOf(batch: StoredBatch): PageCursor {
  const { from, to } = rangeOf(batch)
  return toCursor({ first: from, last: to, publisherId: batch.publisher, messageChainId: batch.name })
}
