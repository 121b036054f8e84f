import type Database from 'better-sqlite3'
import type { NodeId } from '@runnel/protocol'
import type { StoredCard } from '../stored-cards.ts'

/** The cards of users. Each change is a transaction of its own. */
export class Cards {
  readonly #put: Database.Statement<[string, Uint8Array, number, number]>
  readonly #get: Database.Statement<[string], Uint8Array>
  readonly #vouch: Database.Statement<[string]>
  readonly #count: Database.Statement<[], number>
  readonly #prune: Database.Statement<[number]>

  constructor(database: Database.Database) {
    this.#put = database.prepare(
      `INSERT INTO card VALUES (?, ?, ?, ?) ON CONFLICT (user) DO UPDATE
       SET bytes = excluded.bytes, kept = excluded.kept, vouched = max(vouched, excluded.vouched)`,
    )
    this.#get = database.prepare<[string], Uint8Array>('SELECT bytes FROM card WHERE user = ?').pluck()
    this.#vouch = database.prepare('UPDATE card SET vouched = 1 WHERE user = ? AND vouched = 0')
    this.#count = database.prepare<[], number>('SELECT count(*) FROM card').pluck()
    this.#prune = database.prepare(
      `DELETE FROM card WHERE user IN (SELECT user FROM card WHERE vouched = 0 ORDER BY kept LIMIT ?)`,
    )
  }

  put({ userId, bytes, keptMs, isVouched }: StoredCard): void {
    this.#put.run(userId, bytes, keptMs, isVouched ? 1 : 0)
  }

  of(userIds: readonly NodeId[]): ReadonlyMap<NodeId, Uint8Array> {
    const found = new Map<NodeId, Uint8Array>()
    for (const userId of userIds) {
      const bytes = this.#get.get(userId)
      if (bytes !== undefined) found.set(userId, bytes)
    }
    return found
  }

  vouchFor(userId: NodeId): void {
    this.#vouch.run(userId)
  }

  count(): number {
    return this.#count.get() ?? 0
  }

  prune(maxCards: number): number {
    return this.#prune.run(Math.max(0, this.count() - maxCards)).changes
  }
}
