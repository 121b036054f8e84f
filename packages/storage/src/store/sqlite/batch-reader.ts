import type Database from 'better-sqlite3'
import {
  compareRefs,
  decodeBatch,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { storageError } from '../../errors.ts'
import type { LastMessages, StreamPartUsage } from '../message-store.ts'
import type { DelegationPlace, EncodedDelegations } from '../stored-delegations.ts'
import { lastMessages, lastRef, lookUpLimits, type BatchIndex } from '../last-messages.ts'
import { Cards } from './cards.ts'
import { Delegations } from './delegations.ts'
import { Entries, everything, type Entry, type EntryPlace, type Place } from './entries.ts'
import { Newest } from './newest.ts'
import { pack, type Packed } from './packing.ts'
import { StoreError } from './sqlite-errors.ts'

export interface Filter {
  readonly streamPartId: StreamPartId
  readonly publisherId: NodeId | undefined
  readonly messageChainId: string | undefined
}

export interface ReadRequest extends Filter {
  readonly from: MessageRef
  readonly to: MessageRef
  readonly maxBytes: number
  readonly after: EntryPlace | undefined
}

export interface ValuesRequest {
  readonly streamPartId: StreamPartId
  readonly tag: Uint8Array | undefined
  readonly maxBytes: number
  readonly after: number
}

export interface ValuesPage {
  readonly batches: Packed
  readonly next: number | undefined
}

/** Batches with the newest messages of keys that are found at once. */
const maxValuesAtOnce = 1_000

interface UsageRow {
  readonly id: number
  readonly part: StreamPartId
  readonly batches: number
  readonly messages: number
  readonly bytes: number
}

/** All read-only queries of a database; each answer sees one consistent state. */
export class BatchReader {
  readonly cards: Cards
  readonly #database: Database.Database
  readonly #entries: Entries
  readonly #delegations: Delegations
  readonly #newest: Newest
  readonly #scope: Database.Statement<[string, string], number>
  readonly #chain: Database.Statement<[number, string], { id: number; oldest: number; newest: number }>
  readonly #bytes: Database.Statement<[number], Uint8Array>
  readonly #usage: Database.Statement<[], UsageRow>
  readonly #mark: Database.Statement<[string], string>

  constructor(database: Database.Database) {
    this.cards = new Cards(database)
    this.#database = database
    this.#entries = new Entries(database)
    this.#delegations = new Delegations(database)
    this.#newest = new Newest(database)
    this.#scope = database
      .prepare<[string, string], number>('SELECT id FROM scope WHERE part = ? AND publisher = ?')
      .pluck()
    this.#chain = database.prepare(
      'SELECT id, oldest, newest FROM chain WHERE publisher_scope = ? AND name = ?',
    )
    this.#bytes = database.prepare<[number], Uint8Array>('SELECT bytes FROM batch WHERE id = ?').pluck()
    this.#usage = database.prepare(
      "SELECT id, part, batches, messages, bytes FROM scope WHERE publisher = '' AND batches > 0 ORDER BY part",
    )
    this.#mark = database.prepare<[string], string>('SELECT value FROM mark WHERE name = ?').pluck()
  }

  read(request: ReadRequest): { batches: Packed; next: EntryPlace | undefined } {
    return this.#consistently(() => {
      const place = this.#placeOf(request)
      const batches: Uint8Array[] = []
      let bytes = 0
      let last: Entry | undefined
      for (const entry of place ? this.#entries.overlapping(place, request, request.after) : []) {
        if (last !== undefined && bytes + entry.bytes > request.maxBytes) {
          return { batches: pack(batches), next: last }
        }
        batches.push(this.#bytesOf(entry.batch))
        bytes += entry.bytes
        last = entry
      }
      return { batches: pack(batches), next: undefined }
    })
  }

  /** Of one key, or of all after a batch; `next` is that of the last batch when there may be more. */
  values({ streamPartId, tag, maxBytes, after }: ValuesRequest): ValuesPage {
    return this.#consistently(() => {
      const scope = this.#scope.get(streamPartId, '')
      if (scope === undefined) return { batches: pack([]), next: undefined }
      if (tag !== undefined) {
        const batch = this.#newest.batchOf(scope, tag)
        return { batches: pack(batch === undefined ? [] : [this.#bytesOf(batch)]), next: undefined }
      }
      const numbers = this.#newest.batchesAfter(scope, after, maxValuesAtOnce)
      const batches: Uint8Array[] = []
      let bytes = 0
      for (const number of numbers) {
        const batch = this.#bytesOf(number)
        batches.push(batch)
        bytes += batch.length
        if (bytes >= maxBytes) return { batches: pack(batches), next: number }
      }
      return { batches: pack(batches), next: numbers.length < maxValuesAtOnce ? undefined : numbers.at(-1) }
    })
  }

  async last({ count, ...filter }: Filter & { readonly count: number }): Promise<LastMessages | undefined> {
    this.#database.exec('BEGIN')
    try {
      const place = this.#placeOf(filter)
      return place && (await lastMessages(this.#indexOf(place), count))
    } finally {
      this.#database.exec('COMMIT')
    }
  }

  has({ chain, place }: { readonly chain: MessageChain; readonly place: MessageRef }): boolean {
    return this.#consistently(() => {
      const { publisherId, messageChainId } = chain
      const streamPartId = `${chain.streamId}#${chain.partition}` as StreamPartId
      const where = this.#placeOf({ streamPartId, publisherId, messageChainId })
      let searched = 0
      for (const { batch } of where ? this.#entries.overlapping(where, { from: place, to: place }) : []) {
        if (++searched > lookUpLimits.maxSearchedBatches) throw storageError('TOO_COSTLY')
        const { messages } = decodeBatch(this.#bytesOf(batch))
        if (messages.some((message) => compareRefs(message, place) === 0)) return true
      }
      return false
    })
  }

  usage(): StreamPartUsage[] {
    return this.#consistently(() =>
      this.#usage.all().map(({ id, part, batches, messages, bytes }) => {
        const place = wholeScope(id)
        const oldest = this.#entries.overlapping(place, everything).next().value as Entry | undefined
        return {
          streamPartId: part,
          batches,
          messages,
          bytes,
          oldestMs: oldest?.firstTime ?? 0,
          newestMs: this.#entries.newest(place)?.timestamp ?? 0,
        }
      }),
    )
  }

  delegations(places: readonly DelegationPlace[]): EncodedDelegations {
    return this.#consistently(() => this.#delegations.at(places))
  }

  mark(name: string): string | undefined {
    return this.#mark.get(name)
  }

  /** Undefined when nothing of it is stored. */
  #placeOf({ streamPartId, publisherId, messageChainId }: Filter): Place | undefined {
    const scope = this.#scope.get(streamPartId, publisherId ?? '')
    if (scope === undefined || messageChainId === undefined)
      return scope === undefined ? undefined : wholeScope(scope)
    const chain = this.#chain.get(scope, messageChainId)
    return chain && { scope, chain: chain.id, oldestMs: chain.oldest, newestMs: chain.newest }
  }

  #indexOf(place: Place): BatchIndex<Entry> {
    return {
      newest: () => this.#entries.newest(place),
      backwards: () => this.#entries.backwards(place),
      overlapping: (range) => this.#entries.overlapping(place, range),
      bytesIn: ({ bytes }) => bytes,
      messagesOf: ({ batch }) => decodeBatch(this.#bytesOf(batch)).messages,
    }
  }

  #bytesOf(batch: number): Uint8Array {
    const bytes = this.#bytes.get(batch)
    if (bytes === undefined)
      throw new StoreError('STORE_CORRUPT', `${this.#database.name}: batch ${batch} is missing`)
    return bytes
  }

  #consistently<T>(read: () => T): T {
    return this.#database.transaction(read).deferred()
  }
}

export function wholeScope(scope: number): Place {
  return { scope, chain: null, oldestMs: 0, newestMs: lastRef.timestamp }
}
