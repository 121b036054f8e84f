import type Database from 'better-sqlite3'
import type { DelegationRef, MessageBatch } from '@runnel/protocol'
import { periodOf, type DelegationPlace, type EncodedDelegations } from '../stored-delegations.ts'

/** The delegations beside the batches that name them. Changes belong to the transaction of the caller. */
export class Delegations {
  readonly #get: Database.Statement<[string, number, string], Uint8Array>
  readonly #insert: Database.Statement<[number, number, string, Uint8Array]>
  readonly #forget: Database.Statement<[number, number]>

  constructor(database: Database.Database) {
    this.#get = database
      .prepare<[string, number, string], Uint8Array>(
        `SELECT d.bytes FROM scope s JOIN delegation d ON d.scope = s.id
         WHERE s.part = ? AND s.publisher = '' AND d.period = ? AND d.ref = ?`,
      )
      .pluck()
    this.#insert = database.prepare('INSERT OR IGNORE INTO delegation VALUES (?, ?, ?, ?)')
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

  add(
    partScope: number,
    { messages, delegationRef: ref }: MessageBatch,
    bytes: Uint8Array | undefined,
  ): void {
    const [first] = messages
    if (ref === undefined || bytes === undefined || first === undefined) return
    this.#insert.run(partScope, periodOf(first.timestamp), ref, bytes)
  }

  /** Those of periods before the one in which the oldest batch of the stream part begins; all when there is none. */
  forget(partScope: number, oldestMs: number | undefined): void {
    const before = oldestMs === undefined ? Number.MAX_SAFE_INTEGER : periodOf(oldestMs)
    this.#forget.run(partScope, before)
  }
}
