import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testMessageStore } from '../conformance.testkit.ts'
import { SqliteStore } from './sqlite-store.ts'

async function newPlace() {
  const directory = await mkdtemp(join(tmpdir(), 'runnel-store-'))
  return {
    create: () => new SqliteStore({ directory }),
    remove: () => rm(directory, { recursive: true }),
  }
}

testMessageStore('SQLite', newPlace, { seeds: [1, 2, 3, 4, 5], questions: 40 })

it('leaves the add-on loaded when its threads have ended', async () => {
  const { create, remove } = await newPlace()
  const store = create()
  await store.open()
  await store.close()
  const { sharedObjects } = process.report.getReport() as unknown as { readonly sharedObjects: string[] }
  expect(sharedObjects.filter((path) => path.includes('better-sqlite3'))).toHaveLength(1)
  await remove()
})
