import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { at, batchOf, byRef, chainOf, delegationOf } from '../batches.testkit.ts'
import { readAll, testMessageStore } from '../conformance.testkit.ts'
import { testForgetting } from '../forgetting.testkit.ts'
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

testForgetting('SQLite', async () => {
  const place = await newPlace()
  let location = ''
  return {
    ...place,
    create: () => {
      const store = place.create()
      location = store.location
      return store
    },
    settle: () => {},
    delegations: async () => {
      const database = new Database(location, { readonly: true })
      const count = Number(database.prepare('SELECT count(*) FROM delegation').pluck().get())
      database.close()
      return count
    },
  }
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
