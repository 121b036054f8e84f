import { compareRefs, isRunnelError, placeOf, type MessageRef } from '@runnel/protocol'
import { storageError } from '../errors.ts'
import type { LastMessages } from './message-store.ts'

/** Where a batch is, without its bytes. */
export interface IndexedBatch {
  readonly firstTime: number
  readonly firstNumber: number
  readonly lastTime: number
  readonly lastNumber: number
  /** Tells message chains apart. */
  readonly chain: number | string
  readonly messages: number
}

export interface RefRange {
  readonly from: MessageRef
  readonly to: MessageRef
}

type Some<T> = Iterable<T> | AsyncIterable<T>

/** The batches of a stream part, of a publisher or of a chain; at hand or fetched as they are needed. */
export interface BatchIndex<B extends IndexedBatch> {
  /** Where the newest message is. */
  newest(): MessageRef | undefined | Promise<MessageRef | undefined>
  /** All batches, the newest first message first. */
  backwards(): Some<B>
  /** The batches that reach into a range, in the order of pages. */
  overlapping(range: RefRange): Some<B>
  bytesIn(batch: B): number
  messagesOf(batch: B): readonly MessageRef[] | Promise<readonly MessageRef[]>
}

/** What one look-up may read, so that no publisher's batches hold up the others. */
export const lookUpLimits = {
  /** Batches read to count the last messages: only batches that overlap others of their chain or reach across the floor. */
  maxCountedBatches: 2_000,
  /** Bytes of these batches. */
  maxCountedBytes: 16 * 1024 * 1024,
  /** Batches of one chain read to find a message; without overlaps there is one. */
  maxSearchedBatches: 32,
} as const

export const firstRef: MessageRef = { timestamp: 0, sequenceNumber: 0 }
export const lastRef: MessageRef = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }

/**
 * Finds where the last `count` messages begin. Counts batches backwards without reading them, until those that begin at or after
 * `floor` hold enough; adds batches that reach across the floor; then skips the few surplus messages, forwards from the floor. A
 * message in several batches of its chain counts once. If that takes more reading than `lookUpLimits` allow, it answers without
 * reading: there may be more messages from that place on, and `count` is 0. Throws the reason of the signal.
 */
export async function lastMessages<B extends IndexedBatch>(
  source: BatchIndex<B>,
  count: number,
  signal?: AbortSignal,
): Promise<LastMessages | undefined> {
  const to = await source.newest()
  if (to === undefined || count <= 0) return undefined
  try {
    return await countedExactly(withinLimits(source, signal), to, count)
  } catch (error) {
    if (!isRunnelError(error, 'TOO_COSTLY')) throw error
    return { from: await roughFloor(source, to, count), to, count: 0 }
  }
}

/**
 * Where the batches begin that hold as many messages, by their counts alone. A publisher that repeats messages in many batches
 * makes others see fewer of the rest, just as if it published as many more.
 */
async function roughFloor<B extends IndexedBatch>(
  index: BatchIndex<B>,
  to: MessageRef,
  count: number,
): Promise<MessageRef> {
  let floor = to
  let total = 0
  for await (const batch of index.backwards()) {
    if (total >= count) break
    floor = firstOf(batch)
    total += batch.messages
  }
  return floor
}

async function countedExactly<B extends IndexedBatch>(
  index: BatchIndex<B>,
  to: MessageRef,
  count: number,
): Promise<LastMessages> {
  const counting = new Counting(index)
  let floor = to
  let total = 0
  for await (const batch of index.backwards()) {
    if (total >= count && compareRefs(firstOf(batch), floor) < 0) break
    floor = firstOf(batch)
    total += await counting.of(batch, firstRef)
  }
  for (const batch of await straddlers(index, floor)) total += await counting.of(batch, floor)
  const excess = Math.max(0, total - count)
  return { from: await skip(index, floor, excess), to, count: total - excess }
}

/** The same batches, but reading too many of them throws. */
function withinLimits<B extends IndexedBatch>(index: BatchIndex<B>, signal?: AbortSignal): BatchIndex<B> {
  const { maxCountedBatches, maxCountedBytes } = lookUpLimits
  let batches = 0
  let bytes = 0
  return {
    newest: () => index.newest(),
    backwards: () => index.backwards(),
    overlapping: (range) => index.overlapping(range),
    bytesIn: (batch) => index.bytesIn(batch),
    messagesOf: (batch) => {
      signal?.throwIfAborted()
      bytes += index.bytesIn(batch)
      if (++batches > maxCountedBatches || bytes > maxCountedBytes) throw storageError('TOO_COSTLY')
      return index.messagesOf(batch)
    },
  }
}

/** What was counted of a chain. */
interface CountedChain<B> {
  /** Where the batch counted last begins: none counted before it begins earlier. */
  begin: MessageRef
  /** Counted by their number alone, because they overlapped nothing; the one that begins first is last. */
  readonly unread: B[]
  /** Of all the others. */
  readonly places: Set<string>
}

/** How many messages a batch adds to the count, when batches come newest first. Reads none of them twice. */
class Counting<B extends IndexedBatch> {
  readonly #index: BatchIndex<B>
  readonly #chains = new Map<number | string, CountedChain<B>>()

  constructor(index: BatchIndex<B>) {
    this.#index = index
  }

  /** Only messages from `floor` on. */
  of(batch: B, floor: MessageRef): number | Promise<number> {
    const known = this.#chains.get(batch.chain)
    const chain = known ?? { begin: firstOf(batch), unread: [], places: new Set() }
    if (known === undefined) this.#chains.set(batch.chain, chain)
    const overlaps = known !== undefined && compareRefs(lastOf(batch), chain.begin) >= 0
    chain.begin = firstOf(batch)
    if (overlaps || compareRefs(chain.begin, floor) < 0) return this.#read(batch, floor, chain)
    chain.unread.push(batch)
    return batch.messages
  }

  async #read(batch: B, floor: MessageRef, { unread, places }: CountedChain<B>): Promise<number> {
    const end = lastOf(batch)
    for (let next = unread.at(-1); next && compareRefs(firstOf(next), end) <= 0; next = unread.at(-1)) {
      unread.pop()
      for (const ref of await this.#index.messagesOf(next)) places.add(textOf(ref))
    }
    const before = places.size
    for (const ref of await this.#index.messagesOf(batch)) {
      if (compareRefs(ref, floor) >= 0) places.add(textOf(ref))
    }
    return places.size - before
  }
}

/** The batches that begin before a place and reach it, the newest first. */
async function straddlers<B extends IndexedBatch>(index: BatchIndex<B>, floor: MessageRef): Promise<B[]> {
  const found: B[] = []
  for await (const batch of index.overlapping({ from: floor, to: floor })) {
    if (compareRefs(firstOf(batch), floor) < 0) found.push(batch)
    // All of them would have to be read.
    if (found.length > lookUpLimits.maxCountedBatches) throw storageError('TOO_COSTLY')
  }
  return found.reverse()
}

/** The place of the message after the first `excess` ones from `floor` on. */
async function skip<B extends IndexedBatch>(
  index: BatchIndex<B>,
  floor: MessageRef,
  excess: number,
): Promise<MessageRef> {
  if (excess === 0) return floor
  const first = new FirstPlaces(excess + 1)
  for await (const batch of index.overlapping({ from: floor, to: lastRef })) {
    // Nothing that comes later in the walk is before this.
    if (first.areAllBefore(firstOf(batch))) break
    for (const ref of await index.messagesOf(batch)) {
      if (compareRefs(ref, floor) >= 0) first.add(placeOf(ref), batch.chain)
    }
  }
  return first.last() ?? floor
}

/** The first `max` of all added places; few are added between two sorts. */
class FirstPlaces {
  readonly #max: number
  readonly #seen = new Set<string>()
  #places: MessageRef[] = []
  #sorted = 0

  constructor(max: number) {
    this.#max = max
  }

  add(place: MessageRef, chain: number | string): void {
    const id = `${chain} ${textOf(place)}`
    if (this.#seen.has(id)) return
    this.#seen.add(id)
    this.#places.push(place)
    if (this.#places.length >= 2 * Math.max(this.#sorted, this.#max)) this.#sort()
  }

  /** Whether there are as many as wanted, and none is at the limit or after. */
  areAllBefore(limit: MessageRef): boolean {
    if (this.#places.length < this.#max) return false
    const isBefore = () => compareRefs(this.#places[this.#max - 1] ?? limit, limit) < 0
    if (this.#sorted < this.#max || isBefore()) this.#sort()
    return isBefore()
  }

  last(): MessageRef | undefined {
    this.#sort()
    return this.#places[this.#max - 1]
  }

  #sort(): void {
    this.#places = this.#places.sort(compareRefs).slice(0, this.#max)
    this.#sorted = this.#places.length
  }
}

function textOf({ timestamp, sequenceNumber }: MessageRef): string {
  return `${timestamp} ${sequenceNumber}`
}

function firstOf({ firstTime, firstNumber }: IndexedBatch): MessageRef {
  return { timestamp: firstTime, sequenceNumber: firstNumber }
}

function lastOf({ lastTime, lastNumber }: IndexedBatch): MessageRef {
  return { timestamp: lastTime, sequenceNumber: lastNumber }
}
