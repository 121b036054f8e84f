import type Database from 'better-sqlite3'
import type { DelegationRef, MessageBatch } from '@runnel/protocol'
import {
  delegationPlaceOf,
  periodOf,
  type DelegationPlace,
  type EncodedDelegations,
} from '../stored-delegations.ts'

/** The delegations beside the batches that name them. Changes belong to the transaction of the caller. */
export class Delegations {
  readonly #get: Database.Statement<[string, number, string], Uint8Array>
  readonly #add: Database.Statement<[number, number, string, Uint8Array]>
  readonly #hasAny: Database.Statement<[number], 1>
  readonly #removeLast: Database.Statement<[number, number, string]>
  readonly #remove: Database.Statement<[number, number, string]>
  readonly #forget: Database.Statement<[number, number]>

  constructor(database: Database.Database) {
    this.#get = database
      .prepare<[string, number, string], Uint8Array>(
        `SELECT d.bytes FROM scope s JOIN delegation d ON d.scope = s.id
         WHERE s.part = ? AND s.publisher = '' AND d.period = ? AND d.ref = ?`,
      )
      .pluck()
    this.#add = database.prepare(
      'INSERT INTO delegation VALUES (?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET batches = batches + 1',
    )
    this.#hasAny = database.prepare<[number], 1>('SELECT 1 FROM delegation WHERE scope = ? LIMIT 1').pluck()
    const which = 'WHERE scope = ? AND period = ? AND ref = ?'
    this.#removeLast = database.prepare(`DELETE FROM delegation ${which} AND batches = 1`)
    this.#remove = database.prepare(`UPDATE delegation SET batches = batches - 1 ${which}`)
    this.#forget = database.prepare('DELETE FROM delegation WHERE scope = ? AND period < ?')
  }

  /** Those that are there. */
  at(places: readonly DelegationPlace[]): EncodedDelegations {
    const found = new Map<DelegationRef, Uint8Array>()
    for (const { part, period, ref } of places) {
      const bytes = found.has(ref) ? undefined : this.#get.get(part, period, ref)
      if (bytes !== undefined) found.set(ref, bytes)
    }
    return found
  }

  /** A batch is stored that may name one. */
  add(partScope: number, batch: MessageBatch, bytes: Uint8Array | undefined): void {
    for (const { period, ref } of delegationPlaceOf(batch))
      if (bytes !== undefined) this.#add.run(partScope, period, ref, bytes)
  }

  hasAny(partScope: number): boolean {
    return this.#hasAny.get(partScope) !== undefined
  }

  /** A batch is stored no more: the one that it names goes when no other names it. */
  remove(partScope: number, batch: MessageBatch): void {
    for (const { period, ref } of delegationPlaceOf(batch)) {
      const { changes } = this.#removeLast.run(partScope, period, ref)
      if (changes === 0) this.#remove.run(partScope, period, ref)
    }
  }

  /** Those of periods before the one in which the oldest batch of the stream part begins; all when there is none. */
  forget(partScope: number, oldestMs: number | undefined): void {
    const before = oldestMs === undefined ? Number.MAX_SAFE_INTEGER : periodOf(oldestMs)
    this.#forget.run(partScope, before)
  }
}
