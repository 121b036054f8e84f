import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { ascending, descending } from './entries.ts'
import { migrations } from './schema.ts'

describe('looking batches up', () => {
  it.each([
    ['forwards', ascending],
    ['backwards', descending],
  ])('%s walks along the primary key, and sorts nothing', (_, query) => {
    const database = new Database(':memory:')
    for (const migration of migrations) database.exec(migration)
    const names = [...new Set(query.match(/@\w+/g))].map((name) => [name.slice(1), 0] as const)
    const plan = database
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${query}`)
      .all(Object.fromEntries(names))
      .map(({ detail }) => detail)
    expect(plan).toEqual([
      expect.stringMatching(/^SEARCH e USING PRIMARY KEY \(scope=\? AND level=\? AND .*chain\)[<>]/),
    ])
    database.close()
  })
})

describe('migrations', () => {
  it('forget batches that last longer than one may, and count the rest', () => {
    const database = new Database(':memory:')
    database.exec(migrations[0] ?? '')
    database.exec(`
      INSERT INTO scope VALUES (1, 'p', '', 3, 6, 60), (2, 'p', 'a', 2, 4, 40), (3, 'p', 'b', 1, 2, 20);
      INSERT INTO chain VALUES (1, 1, 2, 'a', 'c', 2, 0, 9), (2, 1, 3, 'b', 'c', 1, 0, 9);
      INSERT INTO batch VALUES (1, x'00'), (2, x'00'), (3, x'00');
      INSERT INTO entry VALUES
        (1, 0, 1, 0, 1, 1, 1, 2, 20, 1), (2, 0, 1, 0, 1, 1, 1, 2, 20, 1),
        (1, 5, 0, 0, 99999, 0, 1, 2, 20, 2), (2, 5, 0, 0, 99999, 0, 1, 2, 20, 2),
        (1, 8, 0, 0, 99999, 0, 2, 2, 20, 3), (3, 8, 0, 0, 99999, 0, 2, 2, 20, 3);`)
    database.exec(migrations[1] ?? '')
    const all = (query: string) => database.prepare(query).raw().all()
    expect(all('SELECT id, batches, messages, bytes FROM scope')).toEqual([
      [1, 1, 2, 20],
      [2, 1, 2, 20],
    ])
    expect(all('SELECT id, batches FROM chain')).toEqual([[1, 1]])
    expect(all('SELECT id FROM batch')).toEqual([[1]])
    expect(all('SELECT scope, batch FROM entry')).toEqual([
      [1, 1],
      [2, 1],
    ])
    database.close()
  })
})
