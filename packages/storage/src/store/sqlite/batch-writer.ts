import type Database from 'better-sqlite3'
import {
  contradictionOf,
  decodeBatch,
  sideChains,
  toStreamPartId,
  type MessageBatch,
  type StreamPartId,
} from '@runnel/protocol'
import type { KeptValues, PrunedBatches, PruneLimits } from '../message-store.ts'
import { wholeScope } from './batch-reader.ts'
import { Cards } from './cards.ts'
import { Delegations } from './delegations.ts'
import { Entries, everything, type Entry } from './entries.ts'
import { Newest } from './newest.ts'
import { unpack, type Packed } from './packing.ts'
import { StoreError } from './sqlite-errors.ts'
import { levelOf } from '../span-levels.ts'
import { countedBytes, delegationOf, type EncodedDelegations } from '../stored-delegations.ts'

export interface AppendRequest {
  readonly batches: Packed
  /** Those that the batches name. */
  readonly delegations: EncodedDelegations
}

export interface PruneRequest extends PruneLimits {
  readonly streamPartId: StreamPartId
}

export interface Pruned extends PrunedBatches {
  /** False when the rest is left for another transaction. */
  readonly complete: boolean
}

/** A message chain and the scopes it is in, and what the transaction adds to them. */
interface Chain {
  readonly id: number
  readonly partScope: number
  readonly publisherScope: number
  batches: number
  messages: number
  bytes: number
  oldest: number
  newest: number
}

/** Message chains whose numbers are remembered from one transaction to the next. */
const maxKnownChains = 10_000
/** Batches deleted in one transaction, so that appends need not wait long. */
const maxPrunedAtOnce = 2000

/** All that changes a database: each call is one transaction, on the disk when it returns. */
export class BatchWriter {
  readonly cards: Cards
  readonly #database: Database.Database
  readonly #entries: Entries
  readonly #delegations: Delegations
  readonly #newest: Newest
  readonly #statements: ReturnType<typeof prepare>
  readonly #chains = new Map<string, Chain>()
  readonly #touched = new Set<Chain>()
  #nextBatch = 0
  #contradictions = 0

  constructor(database: Database.Database) {
    this.cards = new Cards(database)
    this.#database = database
    this.#entries = new Entries(database)
    this.#delegations = new Delegations(database)
    this.#newest = new Newest(database)
    this.#statements = prepare(database)
  }

  /** Gives how many of them contradict one that is stored. */
  append({ batches, delegations }: AppendRequest): number {
    return this.#transaction(() => {
      this.#nextBatch = (this.#statements.newestBatch.get() ?? 0) + 1
      this.#contradictions = 0
      // Not in between: counts of this transaction are pending in them.
      if (this.#chains.size >= maxKnownChains) this.#chains.clear()
      for (const bytes of unpack(batches)) {
        const batch = decodeBatch(bytes)
        this.#insert(batch, delegationOf(batch, delegations))
      }
      for (const chain of this.#touched) this.#count(chain)
      this.#touched.clear()
      return this.#contradictions
    })
  }

  prune({ streamPartId, values, replacedBeforeMs = 0, ...limits }: PruneRequest): Pruned {
    return this.#transaction(() => {
      const replaced = this.#statements.replacedCursors.all(streamPartId, replacedBeforeMs)
      for (const entry of replaced) this.#delete(entry)
      const part = this.#statements.part.get(streamPartId)
      if (part === undefined) return { batches: 0, bytes: 0, complete: true }
      if (values !== undefined) this.#newest.trim(part.id, values)
      const { doomed, goneBeforeMs, complete } = this.#doomed(part, limits, values)
      for (const entry of doomed) this.#delete(entry)
      this.#forgetDelegations(part.id)
      this.#forgetEmpty(doomed)
      const gone = [...replaced, ...doomed]
      return {
        batches: gone.length,
        bytes: gone.reduce((sum, { bytes }) => sum + bytes, 0),
        goneBeforeMs,
        complete: complete && replaced.length < maxPrunedAtOnce,
      }
    })
  }

  /** What is to be deleted, the oldest first, or as much of it as goes at once. */
  #doomed(
    part: { readonly id: number; readonly bytes: number },
    { olderThanMs = 0, maxBytes = Number.POSITIVE_INFINITY }: PruneLimits,
    values: KeptValues | undefined,
  ): Pick<Pruned, 'goneBeforeMs' | 'complete'> & { readonly doomed: Entry[] } {
    const doomed: Entry[] = []
    const spared: Entry[] = []
    let left = part.bytes
    let goneBeforeMs: number | undefined
    for (const entry of this.#entries.overlapping(wholeScope(part.id), everything)) {
      if (left <= maxBytes && entry.firstTime >= olderThanMs) break
      if (left <= maxBytes && entry.lastTime >= olderThanMs) continue
      if (values !== undefined && this.#newest.isIn(part.id, entry.batch)) {
        spared.push(entry)
        continue
      }
      if (doomed.length === maxPrunedAtOnce) return { doomed, goneBeforeMs, complete: false }
      if (left > maxBytes) goneBeforeMs = entry.firstTime + 1
      doomed.push(entry)
      left -= entry.bytes
    }
    for (const entry of spared) {
      if (left <= maxBytes) break
      if (doomed.length === maxPrunedAtOnce) return { doomed, goneBeforeMs, complete: false }
      doomed.push(entry)
      left -= entry.bytes
    }
    return { doomed, goneBeforeMs, complete: true }
  }

  setMark({ name, value }: { readonly name: string; readonly value: string }): void {
    this.#statements.setMark.run(name, value)
  }

  #insert(batch: MessageBatch, delegation: Uint8Array | undefined): void {
    const { chain, messages, bytes } = batch
    const streamPartId = toStreamPartId(chain.streamId, chain.partition)
    const [first, last] = [messages[0], messages.at(-1)]
    if (first === undefined || last === undefined) return
    const known = this.#chainOf(streamPartId, chain.publisherId, chain.messageChainId, first.timestamp)
    const level = levelOf(last.timestamp - first.timestamp)
    const size = countedBytes(batch, delegation)
    const insertInto = (scope: number) =>
      this.#statements.insertEntry.run(
        scope,
        level,
        first.timestamp,
        first.sequenceNumber,
        last.timestamp,
        last.sequenceNumber,
        known.id,
        messages.length,
        size,
        this.#nextBatch,
      )
    if (insertInto(known.partScope).changes === 0) {
      const key = [
        level,
        first.timestamp,
        first.sequenceNumber,
        last.timestamp,
        last.sequenceNumber,
        known.id,
      ]
      this.#replace(batch, delegation, known, key)
      return
    }
    insertInto(known.publisherScope)
    this.#newest.note(known.partScope, batch, this.#nextBatch)
    this.#statements.insertBatch.run(this.#nextBatch++, bytes)
    this.#delegations.add(known.partScope, batch, delegation)
    known.batches++
    known.messages += messages.length
    known.bytes += size
    known.oldest = Math.min(known.oldest, first.timestamp)
    known.newest = Math.max(known.newest, last.timestamp)
    this.#touched.add(known)
  }

  /** Of two batches of one place that differ, the one that counts everywhere stays. */
  #replace(
    batch: MessageBatch,
    delegation: Uint8Array | undefined,
    known: Chain,
    key: readonly number[],
  ): void {
    const { storedEntry, storedBytes, updateBatch, updateEntry } = this.#statements
    const stored = storedEntry.get(known.partScope, ...key) ?? missing(`chain ${known.id}`)
    const storedBatch = decodeBatch(storedBytes.get(stored.batch) ?? missing(`batch ${stored.batch}`))
    const contradiction = contradictionOf(storedBatch, batch)
    if (contradiction === undefined) return
    this.#contradictions++
    if (contradiction.winner === storedBatch) return
    const { messages, bytes } = batch
    const size = countedBytes(batch, delegation)
    updateBatch.run(bytes, stored.batch)
    this.#delegations.remove(known.partScope, storedBatch)
    this.#newest.forget(known.partScope, stored.batch)
    this.#newest.note(known.partScope, batch, stored.batch)
    this.#delegations.add(known.partScope, batch, delegation)
    for (const scope of [known.partScope, known.publisherScope]) {
      updateEntry.run(messages.length, size, scope, ...key)
    }
    known.messages += messages.length - storedBatch.messages.length
    known.bytes += size - stored.bytes
    this.#touched.add(known)
  }

  #chainOf(part: StreamPartId, publisher: string, name: string, timestamp: number): Chain {
    const key = `${part} ${publisher} ${name}`
    const known = this.#chains.get(key)
    if (known !== undefined) return known
    const partScope = this.#scopeOf(part, '')
    const publisherScope = this.#scopeOf(part, publisher)
    const { insertChain, chain } = this.#statements
    insertChain.run({ partScope, publisherScope, publisher, name, timestamp })
    const { id, oldest, newest } = chain.get(publisherScope, name) ?? missing(key)
    const fresh = { id, partScope, publisherScope, batches: 0, messages: 0, bytes: 0, oldest, newest }
    this.#chains.set(key, fresh)
    return fresh
  }

  #scopeOf(part: StreamPartId, publisher: string): number {
    this.#statements.insertScope.run(part, publisher)
    return this.#statements.scope.get(part, publisher) ?? missing(`${part} ${publisher}`)
  }

  #count(chain: Chain): void {
    const { id, partScope, publisherScope, batches, messages, bytes, oldest, newest } = chain
    this.#statements.countChain.run({ id, batches, oldest, newest })
    for (const scope of [partScope, publisherScope]) {
      this.#statements.countScope.run({ id: scope, batches, messages, bytes })
    }
    chain.batches = chain.messages = chain.bytes = 0
  }

  #delete(entry: Entry): void {
    const { chainScopes, storedBytes, deleteEntry, deleteBatch, countChain, countScope } = this.#statements
    const { chain: id, firstTime, firstNumber, lastTime, lastNumber } = entry
    const scopes = chainScopes.get(id) ?? missing(`chain ${id}`)
    const level = levelOf(lastTime - firstTime)
    if (this.#delegations.hasAny(scopes.partScope)) {
      const bytes = storedBytes.get(entry.batch) ?? missing(`batch ${entry.batch}`)
      this.#delegations.remove(scopes.partScope, decodeBatch(bytes))
    }
    deleteBatch.run(entry.batch)
    this.#newest.forget(scopes.partScope, entry.batch)
    countChain.run({ id, batches: -1, oldest: lastTime, newest: firstTime })
    for (const scope of [scopes.partScope, scopes.publisherScope]) {
      deleteEntry.run(scope, level, firstTime, firstNumber, lastTime, lastNumber, id)
      countScope.run({ id: scope, batches: -1, messages: -entry.messages, bytes: -entry.bytes })
    }
  }

  #forgetDelegations(partScope: number): void {
    const { value: oldest } = this.#entries.overlapping(wholeScope(partScope), everything).next()
    this.#delegations.forget(partScope, (oldest as Entry | undefined)?.firstTime)
  }

  #forgetEmpty(doomed: readonly Entry[]): void {
    const { chainScopes, deleteEmptyChain, deleteEmptyScope } = this.#statements
    for (const id of new Set(doomed.map(({ chain }) => chain))) {
      const { partScope, publisherScope } = chainScopes.get(id) ?? missing(`chain ${id}`)
      deleteEmptyChain.run(id)
      deleteEmptyScope.run(publisherScope)
      deleteEmptyScope.run(partScope)
    }
    this.#chains.clear()
  }

  #transaction<T>(change: () => T): T {
    try {
      return this.#database.transaction(change).immediate()
    } catch (error) {
      // What is remembered may have been rolled back.
      this.#chains.clear()
      this.#touched.clear()
      throw error
    }
  }
}

function missing(what: string): never {
  throw new StoreError('STORE_CORRUPT', `${what} is missing`)
}

/** The names of chains of cursors come before this. */
const afterCursors = String.fromCharCode(sideChains.cursor.charCodeAt(0) + 1)
/** Whether a chain is of cursors, and one of them may have been replaced. */
const isLongCursor = (chain: string) =>
  `${chain}.name >= '${sideChains.cursor}' AND ${chain}.name < '${afterCursors}' AND ${chain}.batches > 1`

const entryKey = `scope = ? AND level = ? AND first_time = ? AND first_number = ?
  AND last_time = ? AND last_number = ? AND chain = ?`

function prepare(database: Database.Database) {
  return {
    newestBatch: database.prepare<[], number | null>('SELECT max(id) FROM batch').pluck(),
    part: database.prepare<[string], { id: number; bytes: number }>(
      "SELECT id, bytes FROM scope WHERE part = ? AND publisher = ''",
    ),
    scope: database
      .prepare<[string, string], number>('SELECT id FROM scope WHERE part = ? AND publisher = ?')
      .pluck(),
    insertScope: database.prepare('INSERT OR IGNORE INTO scope (part, publisher) VALUES (?, ?)'),
    chain: database.prepare<[number, string], { id: number; oldest: number; newest: number }>(
      'SELECT id, oldest, newest FROM chain WHERE publisher_scope = ? AND name = ?',
    ),
    chainScopes: database.prepare<[number], { partScope: number; publisherScope: number }>(
      'SELECT part_scope AS partScope, publisher_scope AS publisherScope FROM chain WHERE id = ?',
    ),
    insertChain: database.prepare(
      `INSERT OR IGNORE INTO chain (part_scope, publisher_scope, publisher, name, oldest, newest)
       VALUES (@partScope, @publisherScope, @publisher, @name, @timestamp, @timestamp)`,
    ),
    insertEntry: database.prepare('INSERT OR IGNORE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    storedEntry: database.prepare<number[], { batch: number; bytes: number }>(
      `SELECT batch, bytes FROM entry WHERE ${entryKey}`,
    ),
    storedBytes: database.prepare<[number], Uint8Array>('SELECT bytes FROM batch WHERE id = ?').pluck(),
    updateBatch: database.prepare('UPDATE batch SET bytes = ? WHERE id = ?'),
    updateEntry: database.prepare(`UPDATE entry SET messages = ?, bytes = ? WHERE ${entryKey}`),
    insertBatch: database.prepare('INSERT INTO batch VALUES (?, ?)'),
    countChain: database.prepare(
      `UPDATE chain SET batches = batches + @batches, oldest = min(oldest, @oldest), newest = max(newest, @newest)
       WHERE id = @id`,
    ),
    countScope: database.prepare(
      `UPDATE scope SET batches = batches + @batches, messages = messages + @messages, bytes = bytes + @bytes
       WHERE id = @id`,
    ),
    deleteEntry: database.prepare(`DELETE FROM entry WHERE ${entryKey}`),
    deleteBatch: database.prepare('DELETE FROM batch WHERE id = ?'),
    deleteEmptyChain: database.prepare('DELETE FROM chain WHERE id = ? AND batches = 0'),
    deleteEmptyScope: database.prepare('DELETE FROM scope WHERE id = ? AND batches = 0'),
    // Each entry of the stream part is looked at once, whatever the number of chains, and none where no cursor was replaced.
    replacedCursors: database.prepare<[string, number], Entry>(
      `SELECT e.first_time AS firstTime, e.first_number AS firstNumber, e.last_time AS lastTime,
         e.last_number AS lastNumber, e.chain, e.messages, e.bytes, e.batch
       FROM scope s CROSS JOIN entry e ON e.scope = s.id CROSS JOIN chain c ON c.id = e.chain
       WHERE s.part = ? AND s.publisher = '' AND ${isLongCursor('c')}
         AND EXISTS (SELECT 1 FROM scope p JOIN chain r ON r.publisher_scope = p.id
           WHERE p.part = s.part AND ${isLongCursor('r')})
         AND e.last_time < c.newest AND e.last_time < ?
       LIMIT ${maxPrunedAtOnce}`,
    ),
    setMark: database.prepare('INSERT OR REPLACE INTO mark VALUES (?, ?)'),
  }
}
