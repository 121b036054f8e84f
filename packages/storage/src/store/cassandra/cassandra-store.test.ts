import { Client } from 'cassandra-driver'
import { keyPartition } from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { at, batchOf, byRef, chainOf, delegationOf, partOf } from '../batches.testkit.ts'
import { readAll, testMessageStore } from '../conformance.testkit.ts'
import { testForgetting, type ForgettingPlace } from '../forgetting.testkit.ts'
import { CassandraStore } from './cassandra-store.ts'
import { startCassandra, type CassandraServer } from './cassandra-server.testkit.ts'

/** The first time Java, Maven and Cassandra may have to be fetched. */
const installAndStartMs = 600_000

let server: CassandraServer
beforeAll(async () => {
  server = await startCassandra()
}, installAndStartMs)
afterAll(() => server.stop())

function storeIn(keyspace: string, contactPoint = server.contactPoint): CassandraStore {
  const { localDataCenter } = server
  return new CassandraStore(
    { contactPoints: [contactPoint], localDataCenter, keyspace },
    { clock: systemClock },
  )
}

/** Tests share one keyspace, one after the other, and leave it empty: to make tables takes seconds. */
async function newPlace() {
  return { create: () => storeIn('conformance'), remove: () => empty('conformance') }
}

async function empty(keyspace: string): Promise<void> {
  const { contactPoint, localDataCenter } = server
  const client = new Client({ contactPoints: [contactPoint], localDataCenter })
  const { rows } = await client.execute(
    `SELECT table_name FROM system_schema.tables WHERE keyspace_name = '${keyspace}'`,
  )
  const tables = rows.map((row) => row.get('table_name') as string).filter((name) => name !== 'versions')
  for (const table of tables) await client.execute(`TRUNCATE ${keyspace}.${table}`)
  await client.shutdown()
}

async function execute(...statements: readonly string[]): Promise<void> {
  const { contactPoint, localDataCenter } = server
  const client = new Client({ contactPoints: [contactPoint], localDataCenter })
  for (const statement of statements) await client.execute(statement)
  await client.shutdown()
}

/** As `newPlace`, with a clock that can be set. */
async function newForgettingPlace(): Promise<ForgettingPlace> {
  const keyspace = 'forgetting'
  let aheadMs = 0
  const { contactPoint, localDataCenter } = server
  const options = { contactPoints: [contactPoint], localDataCenter, keyspace }
  return {
    create: () => new CassandraStore(options, { clock: { now: () => Date.now() + aheadMs } }),
    remove: () => empty(keyspace),
    settle: () => void (aheadMs += 3_600_000),
    delegations: () => rowsOf(`SELECT ref FROM ${keyspace}.delegations`),
  }
}

/** How many rows a query finds. */
async function rowsOf(query: string): Promise<number> {
  const { contactPoint, localDataCenter } = server
  const client = new Client({ contactPoints: [contactPoint], localDataCenter })
  const { rows } = await client.execute(query)
  await client.shutdown()
  return rows.length
}

testMessageStore('Cassandra', newPlace, { seeds: [6, 7], questions: 15 })
testForgetting('Cassandra', newForgettingPlace)

describe('a store in Cassandra', () => {
  it('says where nobody answers', async () => {
    const store = storeIn('nowhere', '127.0.0.1:1')
    await expect(store.open()).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('cassandra://127.0.0.1:1/nowhere') as string,
    })
    await store.close()
  })

  it('finds what is spread over many minutes', async () => {
    const store = storeIn('spread')
    await store.open()
    const batches = Array.from({ length: 50 }, (_, i) =>
      batchOf(chainOf(), [at(i * 90_000), at(i * 90_000 + 1)]),
    )
    await store.append(batches)
    expect(await readAll(store, {}, 1000)).toEqual(batches.map(({ bytes }) => Buffer.from(bytes)))
    expect(await store.last(partOf(0), 75)).toEqual({
      from: at(12 * 90_000 + 1),
      to: at(49 * 90_000 + 1),
      count: 75,
    })
    await store.close()
  })

  it('counts again what was settled when it changes, and not before', async () => {
    let nowMs = Date.now()
    const clock = { now: () => nowMs }
    const modules = {
      contactPoints: [server.contactPoint],
      localDataCenter: server.localDataCenter,
      keyspace: 'totals',
    }
    const store = new CassandraStore(modules, { clock })
    await store.open()
    const usedBatches = async () => (await store.usage())[0]?.batches
    await store.append([0, 1, 2].map((i) => batchOf(chainOf(), [at(i)])))
    nowMs += 3_600_000
    expect([await usedBatches(), await usedBatches()]).toEqual([3, 3])
    await store.append([batchOf(chainOf(), [at(3)])])
    expect(await usedBatches()).toBe(4)
    expect(await store.prune(partOf(0), { olderThanMs: 2 })).toMatchObject({ batches: 2 })
    expect(await usedBatches()).toBe(2)
    await store.prune(partOf(0), { maxBytes: 0 })
    expect(await usedBatches()).toBeUndefined()
    await store.close()
  })

  it('lists no minute any more that was emptied just after it was written', async () => {
    const place = await newForgettingPlace()
    const store = place.create()
    await store.open()
    const batches = Array.from({ length: 5 }, (_, i) => batchOf(chainOf(), [at(i * 60_000)]))
    await store.append(batches)
    await store.prune(partOf(0), { olderThanMs: 200_000 })
    const minutes = () => rowsOf('SELECT bucket FROM forgetting.buckets')
    await store.usage()
    expect(await minutes()).toBe(5)
    place.settle()
    await store.usage()
    expect(await minutes()).toBe(1)
    await store.append(batches)
    expect(await readAll(store)).toHaveLength(5)
    await store.close()
    await place.remove()
  })

  it('lists no stream part any more of which nothing is left', async () => {
    const place = await newForgettingPlace()
    const store = place.create()
    await store.open()
    await store.append([batchOf(chainOf(), [at(1)]), batchOf(chainOf('chain', undefined, 1), [at(1)])])
    const parts = () => rowsOf('SELECT part FROM forgetting.parts')
    await store.prune(partOf(0), { maxBytes: 0 })
    expect([(await store.usage()).length, await parts()]).toEqual([1, 2])
    place.settle()
    expect([(await store.usage()).length, await parts()]).toEqual([1, 1])
    await store.close()
    await place.remove()
  })

  it('reads past what is listed and not there, as while it is being written', async () => {
    const store = storeIn('conformance')
    await store.open()
    const chain = chainOf('listed', undefined, keyPartition)
    await store.append([at(1), at(2), at(3)].map((place) => batchOf(chain, [place])))
    await execute(
      `DELETE FROM conformance.batches WHERE part = '${partOf(keyPartition)}' AND level = 0 AND bucket = 0
        AND first_time = 2 AND first_number = 0`,
    )
    expect([await store.has(chain, at(2)), await store.has(chain, at(3))]).toEqual([false, true])
    expect(await store.last(partOf(keyPartition), 3, chain)).toMatchObject({ to: at(3) })
    await store.close()
    await empty('conformance')
  })

  /** A store with two cursors of a chain, each under a delegation of its own. */
  const withReplacedCursor = async () => {
    const place = await newForgettingPlace()
    const store = place.create()
    await store.open()
    const delegations = [1, 2].map((fill) => delegationOf(fill))
    const cursors = delegations.map((delegation, i) =>
      batchOf(chainOf('@cursor', undefined, keyPartition), [at(i)], 20, 0, delegation),
    )
    await store.append(cursors, byRef(...delegations))
    return { place, store, cursors }
  }

  it('keeps a delegation that was written lately, and deletes it later', async () => {
    const { place, store, cursors } = await withReplacedCursor()
    const prune = () => store.prune(partOf(keyPartition), { replacedBeforeMs: 1_000 })
    expect([(await prune()).batches, await place.delegations()]).toEqual([1, 2])
    place.settle()
    expect([(await prune()).batches, await place.delegations()]).toEqual([0, 1])
    expect((await store.delegationsOf(cursors.slice(1))).size).toBe(1)
    await store.close()
    await place.remove()
  })

  it('finds what earlier versions left of replaced cursors', async () => {
    const { place, store } = await withReplacedCursor()
    await store.close()
    const of = `part = '${partOf(keyPartition)}'`
    await execute(
      `DELETE FROM forgetting.batches WHERE ${of} AND level = 0 AND bucket = 0 AND first_time = 0`,
      'DROP TABLE forgetting.delegation_checks',
      "UPDATE forgetting.versions SET version = 4 WHERE name = 'tables'",
    )
    expect(await place.delegations()).toBe(2)
    await store.open()
    place.settle()
    await store.prune(partOf(keyPartition), {})
    expect(await place.delegations()).toBe(1)
    await store.close()
    await place.remove()
  })

  it('opens what 0.1.0 wrote', async () => {
    const store = storeIn('older')
    await store.open()
    await store.close()
    const later = ['delegations', 'delegation_periods', 'delegation_checks', 'key_chains', 'newest', 'cards']
    await execute(
      ...later.map((table) => `DROP TABLE older.${table}`),
      "UPDATE older.versions SET version = 1 WHERE name = 'tables'",
    )
    await store.open()
    const delegation = delegationOf(1)
    const batch = batchOf(chainOf(), [at(1)], 20, 0, delegation)
    await store.append([batch], byRef(delegation))
    expect((await store.delegationsOf([batch])).size).toBe(1)
    await store.close()
  })

  it('refuses tables of a newer version', async () => {
    const store = storeIn('newer')
    await store.open()
    await store.close()
    await execute("UPDATE newer.versions SET version = 1000 WHERE name = 'tables'")
    await expect(store.open()).rejects.toMatchObject({ code: 'STORE_VERSION' })
  })

  it('refuses a keyspace that is none, and never sends it', async () => {
    await expect(storeIn('a; DROP').open()).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  })

  it('says that the cluster went away', async () => {
    const other = await startCassandra()
    const store = storeIn('gone', other.contactPoint)
    await store.open()
    await store.append([batchOf(chainOf(), [at(1)])])
    await other.stop()
    const unavailable = { code: 'STORE_UNAVAILABLE', message: expect.stringContaining('/gone') as string }
    await expect(store.append([batchOf(chainOf(), [at(2)])])).rejects.toMatchObject(unavailable)
    await expect(store.getMark('a')).rejects.toMatchObject(unavailable)
    await store.close()
  })
})
