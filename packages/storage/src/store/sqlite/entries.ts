import type Database from 'better-sqlite3'
import type { MessageRef } from '@runnel/protocol'
import { firstRef, lastRef, type IndexedBatch, type RefRange } from '../last-messages.ts'
import { widthMsByLevel } from '../span-levels.ts'

/** Where a batch is in one scope. */
export interface Entry extends IndexedBatch {
  readonly chain: number
  readonly bytes: number
  readonly batch: number
}

/** What entries of a scope are ordered by. No two have the same. */
export type EntryPlace = Pick<Entry, 'firstTime' | 'firstNumber' | 'lastTime' | 'lastNumber' | 'chain'>

/** Where to look: a scope, or one chain in it, which has nothing outside of its times. */
export interface Place {
  readonly scope: number
  readonly chain: number | null
  readonly oldestMs: number
  readonly newestMs: number
}

export const everything: RefRange = { from: firstRef, to: lastRef }

/** Rows fetched at once: few at first, for the many look-ups that need only one, and never more than came before, which a page may not need. */
const [minChunkRows, maxChunkRows] = [16, 1024]

const columns = `e.first_time AS firstTime, e.first_number AS firstNumber, e.last_time AS lastTime,
  e.last_number AS lastNumber, e.chain, e.messages, e.bytes, e.batch`
const key = 'e.first_time, e.first_number, e.last_time, e.last_number'

/** In the order of the primary key, chain and all: however many begin and end at the same place, none is looked at twice. */
export const ascending = `
  SELECT ${columns}
  FROM entry e
  WHERE e.scope = @scope AND e.level = @level
    AND (${key}, e.chain) > (@firstTime, @firstNumber, @lastTime, @lastNumber, @afterChain)
    AND (e.first_time, e.first_number) <= (@toTime, @toNumber)
    AND (e.last_time, e.last_number) >= (@fromTime, @fromNumber)
    AND (@chain IS NULL OR e.chain = @chain)
  ORDER BY ${key}, e.chain
  LIMIT @limit`

export const descending = `
  SELECT ${columns}
  FROM entry e
  WHERE e.scope = @scope AND e.level = @level AND e.first_time >= @oldestMs
    AND (${key}, e.chain) < (@firstTime, @firstNumber, @lastTime, @lastNumber, @beforeChain)
    AND (@chain IS NULL OR e.chain = @chain)
  ORDER BY e.first_time DESC, e.first_number DESC, e.last_time DESC, e.last_number DESC, e.chain DESC
  LIMIT @limit`

/** Negative when a's batch comes before b's in a page. */
function compareEntries(a: Entry, b: Entry): number {
  return (
    a.firstTime - b.firstTime ||
    a.firstNumber - b.firstNumber ||
    a.lastTime - b.lastTime ||
    a.lastNumber - b.lastNumber ||
    a.chain - b.chain
  )
}

/** Looks batches up by their place. Holds no statement open between two steps. */
export class Entries {
  readonly #ascending: Database.Statement<unknown[], Entry>
  readonly #descending: Database.Statement<unknown[], Entry>

  constructor(database: Database.Database) {
    this.#ascending = database.prepare<unknown[], Entry>(ascending)
    this.#descending = database.prepare<unknown[], Entry>(descending)
  }

  /** All batches that reach into a range, in the order of pages; after `after` when given. */
  overlapping(place: Place, range: RefRange, after?: EntryPlace): Generator<Entry> {
    return merge(
      widthMsByLevel.map((widthMs, level) => this.#overlappingOf(level, widthMs, place, range, after)),
      compareEntries,
    )
  }

  /** All batches, the newest first message first. */
  backwards(place: Place): Generator<Entry> {
    return merge(
      widthMsByLevel.map((_, level) => this.#backwardsOf(level, place)),
      (a, b) => compareEntries(b, a),
    )
  }

  /** Where the newest message is; undefined when there is none. */
  newest(place: Place): MessageRef | undefined {
    let newest: Entry | undefined
    for (const [level, widthMs] of widthMsByLevel.entries()) {
      for (const entry of this.#backwardsOf(level, place)) {
        if (newest !== undefined && entry.firstTime + widthMs < newest.lastTime) break
        if (newest === undefined || compareLast(entry, newest) > 0) newest = entry
      }
    }
    return newest && { timestamp: newest.lastTime, sequenceNumber: newest.lastNumber }
  }

  *#overlappingOf(
    level: number,
    widthMs: number,
    { scope, chain, oldestMs, newestMs }: Place,
    { from, to }: RefRange,
    after: EntryPlace | undefined,
  ): Generator<Entry> {
    const firstTime = Math.max(oldestMs, from.timestamp - widthMs)
    let last: EntryPlace = { firstTime, firstNumber: 0, lastTime: 0, lastNumber: 0, chain: 0 }
    if (after !== undefined && after.firstTime >= firstTime) last = after
    const fixed = {
      scope,
      level,
      chain,
      fromTime: from.timestamp,
      fromNumber: from.sequenceNumber,
      toTime: Math.min(to.timestamp, newestMs),
      toNumber: to.timestamp > newestMs ? lastRef.sequenceNumber : to.sequenceNumber,
    }
    for (let limit = minChunkRows; ; limit = Math.min(maxChunkRows, limit * 2)) {
      const { firstTime, firstNumber, lastTime, lastNumber, chain: afterChain } = last
      const rows = this.#ascending.all({
        ...fixed,
        ...{ firstTime, firstNumber, lastTime, lastNumber, afterChain },
        limit,
      })
      yield* rows
      const end = rows.at(-1)
      if (end === undefined || rows.length < limit) return
      last = end
    }
  }

  *#backwardsOf(level: number, { scope, chain, oldestMs, newestMs }: Place): Generator<Entry> {
    let last: EntryPlace = { firstTime: newestMs + 1, firstNumber: 0, lastTime: 0, lastNumber: 0, chain: 0 }
    for (let limit = minChunkRows; ; limit = Math.min(maxChunkRows, limit * 2)) {
      const { firstTime, firstNumber, lastTime, lastNumber, chain: beforeChain } = last
      const rows = this.#descending.all({
        ...{ scope, level, chain, oldestMs },
        ...{ firstTime, firstNumber, lastTime, lastNumber, beforeChain },
        limit,
      })
      yield* rows
      const end = rows.at(-1)
      if (end === undefined || rows.length < limit) return
      last = end
    }
  }
}

function compareLast(a: Entry, b: Entry): number {
  return a.lastTime - b.lastTime || a.lastNumber - b.lastNumber
}

/** Ordered sequences as one. */
function* merge<T>(sources: readonly Generator<T>[], compare: (a: T, b: T) => number): Generator<T> {
  const heads = sources.flatMap((source) => {
    const step = source.next()
    return step.done ? [] : [{ source, value: step.value }]
  })
  while (heads.length > 0) {
    const least = heads.reduce((a, b) => (compare(b.value, a.value) < 0 ? b : a))
    yield least.value
    const step = least.source.next()
    if (step.done) heads.splice(heads.indexOf(least), 1)
    else least.value = step.value
  }
}
