import type Database from 'better-sqlite3'
import { keyTagIn, type MessageBatch } from '@runnel/protocol'
import type { KeptValues } from '../message-store.ts'

interface Row {
  readonly scope: number
  readonly tag: Uint8Array
  readonly time: number
  readonly number: number
  readonly publisher: string
  readonly batch: number
}

/** By the index, which SQLite does not choose by itself here: it would look at all keys of the stream part. */
export const forgetBatch = 'DELETE FROM newest INDEXED BY newest_batch WHERE scope = ? AND batch = ?'

/** In which batch the newest message of each key is. Changes belong to the transaction of the caller. */
export class Newest {
  readonly #note: Database.Statement<[Row]>
  readonly #forget: Database.Statement<[number, number]>
  readonly #isIn: Database.Statement<[number, number], 1>
  readonly #batchOf: Database.Statement<[number, Uint8Array], number>
  readonly #batchesAfter: Database.Statement<[number, number, number], number>
  readonly #forgetOld: Database.Statement<[number, number]>
  readonly #count: Database.Statement<[number], number>
  readonly #forgetOldest: Database.Statement<[{ readonly scope: number; readonly count: number }]>

  constructor(database: Database.Database) {
    this.#note = database.prepare(
      `INSERT INTO newest VALUES (@scope, @tag, @time, @number, @publisher, @batch)
       ON CONFLICT (scope, tag) DO UPDATE
       SET time = excluded.time, number = excluded.number, publisher = excluded.publisher, batch = excluded.batch
       WHERE (excluded.time, excluded.number, excluded.publisher) > (newest.time, newest.number, newest.publisher)`,
    )
    this.#forget = database.prepare(forgetBatch)
    this.#isIn = database
      .prepare<[number, number], 1>('SELECT 1 FROM newest WHERE scope = ? AND batch = ? LIMIT 1')
      .pluck()
    this.#batchOf = database
      .prepare<[number, Uint8Array], number>('SELECT batch FROM newest WHERE scope = ? AND tag = ?')
      .pluck()
    this.#batchesAfter = database
      .prepare<[number, number, number], number>(
        'SELECT DISTINCT batch FROM newest WHERE scope = ? AND batch > ? ORDER BY batch LIMIT ?',
      )
      .pluck()
    this.#forgetOld = database.prepare('DELETE FROM newest WHERE scope = ? AND time < ?')
    this.#count = database.prepare<[number], number>('SELECT count(*) FROM newest WHERE scope = ?').pluck()
    this.#forgetOldest = database.prepare(
      `DELETE FROM newest WHERE scope = @scope
       AND tag IN (SELECT tag FROM newest WHERE scope = @scope ORDER BY time LIMIT @count)`,
    )
  }

  /** Takes note of the keys in a batch of the scope of a stream part. */
  note(scope: number, { messages, chain }: MessageBatch, batch: number): void {
    for (const message of messages) {
      const tag = keyTagIn(message)
      if (tag === undefined) continue
      const { timestamp: time, sequenceNumber: number } = message
      this.#note.run({ scope, tag, time, number, publisher: chain.publisherId, batch })
    }
  }

  /** Nothing of a batch counts any more. */
  forget(scope: number, batch: number): void {
    this.#forget.run(scope, batch)
  }

  /** Whether a batch has the newest message of a key. */
  isIn(scope: number, batch: number): boolean {
    return this.#isIn.get(scope, batch) !== undefined
  }

  batchOf(scope: number, tag: Uint8Array): number | undefined {
    return this.#batchOf.get(scope, tag)
  }

  /** The numbers of batches with the newest message of a key, ascending; each once. */
  batchesAfter(scope: number, batch: number, count: number): readonly number[] {
    return this.#batchesAfter.all(scope, batch, count)
  }

  /** Forgets what is not to be kept. */
  trim(scope: number, { fromMs, maxKeys }: KeptValues): void {
    this.#forgetOld.run(scope, fromMs)
    const count = (this.#count.get(scope) ?? 0) - maxKeys
    if (count > 0) this.#forgetOldest.run({ scope, count })
  }
}
