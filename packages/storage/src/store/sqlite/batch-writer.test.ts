import Database from 'better-sqlite3'
import { expect, it } from 'vitest'
import { at, batchOf, chainOf } from '../batches.testkit.ts'
import { BatchWriter } from './batch-writer.ts'
import { forgetBatch } from './newest.ts'
import { pack } from './packing.ts'
import { migrations } from './schema.ts'

/** An empty database that tells each statement it runs. */
function newDatabase(verbose?: (statement?: unknown) => void): Database.Database {
  const database = new Database(':memory:', { verbose })
  for (const migration of migrations) database.exec(migration)
  return database
}

it('finds the last values in a deleted batch without looking at all others', () => {
  const database = newDatabase()
  const plan = database
    .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${forgetBatch}`)
    .all(1, 1)
    .map(({ detail }) => detail)
  expect(plan).toEqual([expect.stringMatching(/newest_batch \(scope=\? AND batch=\?\)$/)])
  database.close()
})

it('remembers so many chains only, also where each transaction begins with one that it knows', () => {
  let lookUps = 0
  const database = newDatabase((statement) => {
    if (String(statement).startsWith('SELECT id, oldest, newest FROM chain')) lookUps++
  })
  const writer = new BatchWriter(database)
  const append = (names: readonly string[], time: number) => {
    const batches = names.map((name) => batchOf(chainOf(name), [at(time)]).bytes)
    writer.append({ batches: pack(batches), delegations: new Map() })
  }
  for (let i = 1; i <= 12; i++) {
    append(['known', ...Array.from({ length: 1_000 }, (_, chain) => `${i} ${chain}`)], i)
  }
  lookUps = 0
  append(['1 0'], 100)
  expect(lookUps).toBe(1)
  database.close()
})
