import type Database from 'better-sqlite3'
import type { MessageRef, NodeId } from '@runnel/protocol'
import type { BatchPlace } from '../page-cursor.ts'
import { firstRef, lastRef, type IndexedBatch, type RefRange } from '../last-messages.ts'
import { widthMsByLevel } from '../span-levels.ts'

/** Where a batch is in one scope. */
export interface Entry extends IndexedBatch {
  readonly chain: number
  readonly bytes: number
  readonly batch: number
}

/** Also whose it is. */
export interface NamedEntry extends Entry {
  readonly publisher: NodeId
  readonly name: string
}

/** Where to look: a scope, or one chain in it, which has nothing outside of its times. */
export interface Place {
  readonly scope: number
  readonly chain: number | null
  readonly oldestMs: number
  readonly newestMs: number
}

export const everything: RefRange = { from: firstRef, to: lastRef }

/** Rows fetched at once: few at first, for the many look-ups that need only one. */
const [minChunkRows, maxChunkRows] = [16, 1024]

const columns = `e.first_time AS firstTime, e.first_number AS firstNumber, e.last_time AS lastTime,
  e.last_number AS lastNumber, e.chain, e.messages, e.bytes, e.batch`
const key = 'e.first_time, e.first_number, e.last_time, e.last_number'

const ascending = `
  SELECT ${columns}, c.publisher, c.name
  FROM entry e CROSS JOIN chain c ON c.id = e.chain
  WHERE e.scope = @scope AND e.level = @level
    AND (${key}) >= (@firstTime, @firstNumber, @lastTime, @lastNumber)
    AND (e.first_time, e.first_number) <= (@toTime, @toNumber)
    AND (e.last_time, e.last_number) >= (@fromTime, @fromNumber)
    AND (@chain IS NULL OR e.chain = @chain)
    AND ((${key}) > (@firstTime, @firstNumber, @lastTime, @lastNumber) OR (c.publisher, c.name) > (@publisher, @name))
  ORDER BY ${key}, c.publisher, c.name
  LIMIT @limit`

const descending = `
  SELECT ${columns}
  FROM entry e
  WHERE e.scope = @scope AND e.level = @level AND e.first_time >= @oldestMs
    AND (${key}, e.chain) < (@firstTime, @firstNumber, @lastTime, @lastNumber, @beforeChain)
    AND (@chain IS NULL OR e.chain = @chain)
  ORDER BY e.first_time DESC, e.first_number DESC, e.last_time DESC, e.last_number DESC, e.chain DESC
  LIMIT @limit`

/** Negative when a's batch comes before b's in a page. */
export function compareEntries(a: Entry, b: Entry): number {
  return (
    a.firstTime - b.firstTime ||
    a.firstNumber - b.firstNumber ||
    a.lastTime - b.lastTime ||
    a.lastNumber - b.lastNumber
  )
}

function compareNamed(a: NamedEntry, b: NamedEntry): number {
  return compareEntries(a, b) || compareText(a.publisher, b.publisher) || compareText(a.name, b.name)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Looks batches up by their place. Holds no statement open between two steps. */
export class Entries {
  readonly #ascending: Database.Statement<unknown[], NamedEntry>
  readonly #descending: Database.Statement<unknown[], Entry>

  constructor(database: Database.Database) {
    this.#ascending = database.prepare<unknown[], NamedEntry>(ascending)
    this.#descending = database.prepare<unknown[], Entry>(descending)
  }

  /** All batches that reach into a range, in the order of pages; after `after` when given. */
  overlapping(place: Place, range: RefRange, after?: BatchPlace): Generator<NamedEntry> {
    return merge(
      widthMsByLevel.map((widthMs, level) => this.#overlappingOf(level, widthMs, place, range, after)),
      compareNamed,
    )
  }

  /** All batches, those with the newest first message first. */
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
    after: BatchPlace | undefined,
  ): Generator<NamedEntry> {
    const firstTime = Math.max(oldestMs, from.timestamp - widthMs)
    const start = { firstTime, firstNumber: 0, lastTime: 0, lastNumber: 0 }
    let last = { ...start, publisher: '', name: '' }
    if (after !== undefined && after.first.timestamp >= start.firstTime) last = toKey(after)
    const fixed = {
      scope,
      level,
      chain,
      fromTime: from.timestamp,
      fromNumber: from.sequenceNumber,
      toTime: Math.min(to.timestamp, newestMs),
      toNumber: to.timestamp > newestMs ? lastRef.sequenceNumber : to.sequenceNumber,
    }
    for (let limit = minChunkRows; ; limit = Math.min(maxChunkRows, limit * 4)) {
      const { firstTime, firstNumber, lastTime, lastNumber, publisher, name } = last
      const rows = this.#ascending.all({
        ...fixed,
        ...{ firstTime, firstNumber, lastTime, lastNumber, publisher, name },
        limit,
      })
      yield* rows
      const end = rows.at(-1)
      if (end === undefined || rows.length < limit) return
      last = end
    }
  }

  *#backwardsOf(level: number, { scope, chain, oldestMs, newestMs }: Place): Generator<Entry> {
    let last = { firstTime: newestMs + 1, firstNumber: 0, lastTime: 0, lastNumber: 0, chain: 0 }
    for (let limit = minChunkRows; ; limit = Math.min(maxChunkRows, limit * 4)) {
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

function toKey({ first, last, publisherId, messageChainId }: BatchPlace) {
  return {
    firstTime: first.timestamp,
    firstNumber: first.sequenceNumber,
    lastTime: last.timestamp,
    lastNumber: last.sequenceNumber,
    publisher: publisherId as string,
    name: messageChainId,
  }
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
