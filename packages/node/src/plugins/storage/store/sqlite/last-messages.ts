import { compareRefs, type MessageRef } from '@runnel/protocol'
import type { LastMessages } from '../message-store.ts'
import { lastRef, type Entries, type Entry, type Place } from './entries.ts'

/** The messages of a batch. */
export type RefsOf = (batch: number) => readonly MessageRef[]

/**
 * Where the last `count` messages begin. Batches are counted backwards without reading them, until those that begin at
 * `floor` or after hold enough; what reaches over the floor from before is added; then the few that are too many are
 * passed over, forwards from the floor. A message that is in several batches of its chain counts once.
 */
export function lastMessages(
  entries: Entries,
  refsOf: RefsOf,
  place: Place,
  count: number,
): LastMessages | undefined {
  const to = entries.newest(place)
  if (to === undefined || count <= 0) return undefined
  const counting = new Counting(entries, refsOf, place)
  let floor = to
  let total = 0
  for (const entry of entries.backwards(place)) {
    if (total >= count && compareRefs(firstOf(entry), floor) < 0) break
    floor = firstOf(entry)
    total += counting.of(entry)
  }
  for (const entry of straddlers(entries, place, floor)) total += counting.of(entry, floor)
  const excess = Math.max(0, total - count)
  return { from: skip(entries, refsOf, place, floor, excess), to, count: total - excess }
}

/** How many messages a batch adds to those counted, when batches come newest first. */
class Counting {
  readonly #entries: Entries
  readonly #refsOf: RefsOf
  readonly #place: Place
  /** By chain, where the batch counted last begins. */
  readonly #begins = new Map<number, MessageRef>()

  constructor(entries: Entries, refsOf: RefsOf, place: Place) {
    this.#entries = entries
    this.#refsOf = refsOf
    this.#place = place
  }

  of(entry: Entry, floor?: MessageRef): number {
    const begin = this.#begins.get(entry.chain)
    this.#begins.set(entry.chain, firstOf(entry))
    const overlaps = begin !== undefined && compareRefs(lastOf(entry), begin) >= 0
    if (!overlaps && floor === undefined) return entry.messages
    const refs = this.#refsOf(entry.batch).filter(
      (ref) => floor === undefined || compareRefs(ref, floor) >= 0,
    )
    return overlaps ? this.#notIn(entry, refs) : refs.length
  }

  /** How many of the messages are in no later batch of the chain. */
  #notIn(entry: Entry, refs: readonly MessageRef[]): number {
    const left = new Set(refs.map(textOf))
    const chain = { ...this.#place, chain: entry.chain }
    const range = { from: firstOf(entry), to: lastOf(entry) }
    for (const other of this.#entries.overlapping(chain, range)) {
      const isLater = compareRefs(firstOf(other), firstOf(entry)) || compareRefs(lastOf(other), lastOf(entry))
      if (isLater <= 0) continue
      for (const ref of this.#refsOf(other.batch)) left.delete(textOf(ref))
      if (left.size === 0) break
    }
    return left.size
  }
}

/** The batches that begin before a place and reach it, the newest first. */
function straddlers(entries: Entries, place: Place, floor: MessageRef): Entry[] {
  const found: Entry[] = []
  for (const entry of entries.overlapping(place, { from: floor, to: floor })) {
    if (compareRefs(firstOf(entry), floor) < 0) found.push(entry)
  }
  return found.reverse()
}

/** The place of the message after the first `excess` ones from `floor` on. */
function skip(entries: Entries, refsOf: RefsOf, place: Place, floor: MessageRef, excess: number): MessageRef {
  let waiting: { readonly ref: MessageRef; readonly id: string }[] = []
  let passed = 0
  /** Passes over what waits before `limit`: nothing that comes later in the walk is before that. */
  const passUntil = (limit: MessageRef | undefined): MessageRef | undefined => {
    waiting.sort((a, b) => compareRefs(a.ref, b.ref))
    const seen = new Set<string>()
    for (const [index, { ref, id }] of waiting.entries()) {
      if (limit !== undefined && compareRefs(ref, limit) >= 0) {
        waiting = waiting.slice(index)
        return undefined
      }
      if (seen.has(id)) continue
      seen.add(id)
      if (passed++ === excess) return ref
    }
    waiting = []
    return undefined
  }
  for (const entry of entries.overlapping(place, { from: floor, to: lastRef })) {
    const found = passUntil(firstOf(entry))
    if (found !== undefined) return found
    for (const ref of refsOf(entry.batch)) {
      if (compareRefs(ref, floor) >= 0)
        waiting.push({ ref: placeOf(ref), id: `${entry.chain} ${textOf(ref)}` })
    }
  }
  return passUntil(undefined) ?? floor
}

function placeOf({ timestamp, sequenceNumber }: MessageRef): MessageRef {
  return { timestamp, sequenceNumber }
}

function textOf({ timestamp, sequenceNumber }: MessageRef): string {
  return `${timestamp} ${sequenceNumber}`
}

function firstOf({ firstTime, firstNumber }: Entry): MessageRef {
  return { timestamp: firstTime, sequenceNumber: firstNumber }
}

function lastOf({ lastTime, lastNumber }: Entry): MessageRef {
  return { timestamp: lastTime, sequenceNumber: lastNumber }
}
