import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
