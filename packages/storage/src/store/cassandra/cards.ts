import type { Client } from 'cassandra-driver'
import type { NodeId } from '@runnel/protocol'
import type { CardTable, StoredCard } from '../stored-cards.ts'
import { forAll } from './concurrency.ts'
import { pagedOptions, queryOptions } from './query-options.ts'

/** The cards of users. Of two that nodes of one cluster write for a user at once, either may stay: sending the newer again repairs that. */
export class CassandraCards implements CardTable {
  readonly #client: Client
  readonly #table: string

  constructor(client: Client, keyspace: string) {
    this.#client = client
    this.#table = `${keyspace}.cards`
  }

  async putCard({ userId, bytes, keptMs, isVouched }: StoredCard): Promise<void> {
    const query = `INSERT INTO ${this.#table} (user, bytes, kept) VALUES (?, ?, ?)`
    await this.#client.execute(query, [userId, Buffer.from(bytes), keptMs], queryOptions)
    if (isVouched) await this.#vouch(userId)
  }

  async cardsOf(userIds: readonly NodeId[]): Promise<ReadonlyMap<NodeId, Uint8Array>> {
    const found = new Map<NodeId, Uint8Array>()
    const query = `SELECT bytes FROM ${this.#table} WHERE user = ?`
    await forAll(userIds, async (userId) => {
      const { rows } = await this.#client.execute(query, [userId], queryOptions)
      const bytes = rows[0]?.get('bytes') as Uint8Array | null | undefined
      if (bytes) found.set(userId, bytes)
    })
    return found
  }

  async vouchFor(userId: NodeId): Promise<void> {
    // An update alone would make a row without a card.
    if ((await this.cardsOf([userId])).size > 0) await this.#vouch(userId)
  }

  async cardCount(): Promise<number> {
    const { rows } = await this.#client.execute(
      `SELECT count(*) AS cards FROM ${this.#table}`,
      [],
      queryOptions,
    )
    return Number(rows[0]?.get('cards') ?? 0)
  }

  async pruneCards(maxCards: number): Promise<number> {
    const doomed: { readonly user: string; readonly keptMs: number }[] = []
    let count = 0
    const query = `SELECT user, kept, vouched FROM ${this.#table}`
    for await (const row of await this.#client.execute(query, [], pagedOptions)) {
      count++
      if (row.get('vouched') === true) continue
      doomed.push({ user: String(row.get('user')), keptMs: Number(row.get('kept')) })
    }
    const excess = doomed.toSorted((a, b) => a.keptMs - b.keptMs).slice(0, Math.max(0, count - maxCards))
    const drop = `DELETE FROM ${this.#table} WHERE user = ?`
    await forAll(excess, ({ user }) => this.#client.execute(drop, [user], queryOptions))
    return excess.length
  }

  async #vouch(userId: NodeId): Promise<void> {
    const query = `UPDATE ${this.#table} SET vouched = true WHERE user = ?`
    await this.#client.execute(query, [userId], queryOptions)
  }
}
