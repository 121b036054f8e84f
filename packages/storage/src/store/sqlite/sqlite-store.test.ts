import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { decodeBatch, keyPartition } from '@runnel/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { at, batchOf, byRef, chainOf, delegationOf, keyedBatch, partOf } from '../batches.testkit.ts'
import { readAll, testForgetting, testMessageStore } from '../conformance.testkit.ts'
import { migrations } from './schema.ts'
import { SqliteStore } from './sqlite-store.ts'

async function newPlace() {
  const directory = await mkdtemp(join(tmpdir(), 'runnel-store-'))
  return {
    create: () => new SqliteStore({ directory }),
    remove: () => rm(directory, { recursive: true }),
  }
}

testMessageStore('SQLite', newPlace, { seeds: [1, 2, 3, 4, 5], questions: 40 })

it('forgets delegations with the batches that name them', async () => {
  const { create, remove } = await newPlace()
  const store = create()
  await store.open()
  await testForgetting(store, () => {})
  await store.close()
  await remove()
})

describe('Delegations that nothing names any more', () => {
  const delegations = Array.from({ length: 20 }, (_, i) => delegationOf(i))
  let place: Awaited<ReturnType<typeof newPlace>>
  let store: SqliteStore
  beforeEach(async () => {
    place = await newPlace()
    store = place.create()
    await store.open()
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const count = () => {
    const database = new Database(store.location, { readonly: true })
    const rows = database.prepare('SELECT count(*) FROM delegation').pluck().get()
    database.close()
    return rows
  }
  const batchUnder = (i: number, name = 'chain', partition = 0, keys: number[] = []) => {
    const chain = chainOf(name, undefined, partition)
    const [fill, delegation] = [0, delegations[i]]
    return keyedBatch(chain, keys, [at(10 + i)], fill, delegation)
  }

  it('go while the last value of a key stays', async () => {
    const kept = batchUnder(0, 'value', 0, [1])
    await store.append([kept, ...delegations.map((_, i) => batchUnder(i))], byRef(...delegations))
    expect(count()).toBe(20)
    await store.prune(partOf(0), { olderThanMs: 1_000, values: { fromMs: 0, maxKeys: 10 } })
    expect(count()).toBe(1)
    expect((await store.delegationsOf([kept])).size).toBe(1)
  })

  it('go with cursors that were replaced', async () => {
    const cursors = delegations.map((_, i) => batchUnder(i, '@cursor', keyPartition))
    await store.append([...cursors, batchUnder(0, 'key', keyPartition)], byRef(...delegations))
    await store.prune(partOf(keyPartition), { replacedBeforeMs: 1_000 })
    expect(count()).toBe(2)
    expect(
      (await store.delegationsOf([cursors.at(-1), batchUnder(0)].flatMap((one) => one ?? []))).size,
    ).toBe(1)
  })

  it('go with the one of two contradicting batches that does not count', async () => {
    const two = (ms: number) => [0, 1].map((i) => batchOf(chainOf(), [at(ms)], 20, 0, delegations[i]))
    for (const batch of [...two(1), ...two(2).toReversed()])
      await store.append([batch], byRef(...delegations))
    const named = (await readAll(store)).map((bytes) => decodeBatch(bytes).delegationRef)
    expect([named.length, count()]).toEqual([2, new Set(named).size])
    await store.prune(partOf(0), { olderThanMs: 2 })
    expect(count()).toBe(1)
  })
})

it('opens what 0.1.0 wrote', async () => {
  const { create, remove } = await newPlace()
  const store = create()
  await store.open()
  const old = batchOf(chainOf(), [at(1)])
  await store.append([old])
  await store.close()
  const database = new Database(store.location)
  // All that has been added since.
  database.exec('DROP TABLE delegation; DROP TABLE card; DROP TABLE newest')
  expect(database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()).toEqual(
    tablesOf(migrations.slice(0, 2)),
  )
  database.pragma('user_version = 2')
  database.close()
  await store.open()
  const delegation = delegationOf(1)
  const fresh = batchOf(chainOf(), [at(2)], 20, 0, delegation)
  await store.append([fresh], byRef(delegation))
  expect((await readAll(store)).map((bytes) => Buffer.from(bytes))).toEqual(
    [old, fresh].map(({ bytes }) => Buffer.from(bytes)),
  )
  expect((await store.delegationsOf([fresh])).size).toBe(1)
  await store.close()
  await remove()
})

/** Which there are after these migrations. */
function tablesOf(steps: readonly string[]): unknown[] {
  const database = new Database(':memory:')
  for (const step of steps) database.exec(step)
  return database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
}

it('leaves the add-on loaded when its threads have ended', async () => {
  const { create, remove } = await newPlace()
  const store = create()
  await store.open()
  await store.close()
  const { sharedObjects } = process.report.getReport() as unknown as { readonly sharedObjects: string[] }
  expect(sharedObjects.filter((path) => path.includes('better-sqlite3'))).toHaveLength(1)
  await remove()
})
