import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { MessageBatch } from '@runnel/protocol'

/** Rows in one transaction. */
const rowsPerTransaction = 1000

/** The same bytes as rows of a table with nothing else, inserted in this thread: what SQLite can do at best. */
export class BareSqlite {
  readonly #database: Database.Database
  readonly #insert: Database.Statement<[Uint8Array]>

  constructor(directory: string, synchronous: 'FULL' | 'OFF') {
    this.#database = new Database(join(directory, `bare-${synchronous}.sqlite`))
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma(`synchronous = ${synchronous}`)
    this.#database.exec('CREATE TABLE IF NOT EXISTS batch (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)')
    this.#insert = this.#database.prepare('INSERT INTO batch (bytes) VALUES (?)')
  }

  insert(batches: readonly MessageBatch[]): void {
    const insertAll = this.#database.transaction((rows: readonly MessageBatch[]) => {
      for (const { bytes } of rows) this.#insert.run(bytes)
    })
    for (let i = 0; i < batches.length; i += rowsPerTransaction) {
      insertAll(batches.slice(i, i + rowsPerTransaction))
    }
  }

  close(): void {
    this.#database.close()
  }
}
