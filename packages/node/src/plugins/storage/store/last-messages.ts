import { compareRefs, type MessageRef } from '@runnel/protocol'
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
  /** All batches, those with the newest first message first. */
  backwards(): Some<B>
  /** Those that reach into a range, in the order of pages. */
  overlapping(range: RefRange): Some<B>
  /** Those of the chain of `batch` that reach into its range. */
  overlappingInChain(batch: B): Some<B>
  messagesOf(batch: B): readonly MessageRef[] | Promise<readonly MessageRef[]>
}

export const firstRef: MessageRef = { timestamp: 0, sequenceNumber: 0 }
export const lastRef: MessageRef = { timestamp: 2 ** 48 - 1, sequenceNumber: 2 ** 32 - 1 }

/**
 * Where the last `count` messages begin. Batches are counted backwards without reading them, until those that begin at
 * `floor` or after hold enough; what reaches over the floor from before is added; then the few that are too many are
 * passed over, forwards from the floor. A message that is in several batches of its chain counts once.
 */
export async function lastMessages<B extends IndexedBatch>(
  index: BatchIndex<B>,
  count: number,
): Promise<LastMessages | undefined> {
  const to = await index.newest()
  if (to === undefined || count <= 0) return undefined
  const counting = new Counting(index)
  let floor = to
  let total = 0
  for await (const batch of index.backwards()) {
    if (total >= count && compareRefs(firstOf(batch), floor) < 0) break
    floor = firstOf(batch)
    total += await counting.of(batch)
  }
  for (const batch of await straddlers(index, floor)) total += await counting.of(batch, floor)
  const excess = Math.max(0, total - count)
  return { from: await skip(index, floor, excess), to, count: total - excess }
}

/** How many messages a batch adds to those counted, when batches come newest first. */
class Counting<B extends IndexedBatch> {
  readonly #index: BatchIndex<B>
  /** By chain, where the batch counted last begins. */
  readonly #begins = new Map<number | string, MessageRef>()

  constructor(index: BatchIndex<B>) {
    this.#index = index
  }

  of(batch: B, floor?: MessageRef): number | Promise<number> {
    const begin = this.#begins.get(batch.chain)
    this.#begins.set(batch.chain, firstOf(batch))
    const overlaps = begin !== undefined && compareRefs(lastOf(batch), begin) >= 0
    return overlaps || floor !== undefined ? this.#read(batch, floor ?? firstRef, overlaps) : batch.messages
  }

  async #read(batch: B, floor: MessageRef, overlaps: boolean): Promise<number> {
    const refs = (await this.#index.messagesOf(batch)).filter((ref) => compareRefs(ref, floor) >= 0)
    return overlaps ? this.#notInLater(batch, refs) : refs.length
  }

  /** How many of the messages are in no later batch of the chain. */
  async #notInLater(batch: B, refs: readonly MessageRef[]): Promise<number> {
    const left = new Set(refs.map(textOf))
    for await (const other of this.#index.overlappingInChain(batch)) {
      const order = compareRefs(firstOf(other), firstOf(batch)) || compareRefs(lastOf(other), lastOf(batch))
      if (order <= 0) continue
      for (const ref of await this.#index.messagesOf(other)) left.delete(textOf(ref))
      if (left.size === 0) break
    }
    return left.size
  }
}

/** The batches that begin before a place and reach it, the newest first. */
async function straddlers<B extends IndexedBatch>(index: BatchIndex<B>, floor: MessageRef): Promise<B[]> {
  const found: B[] = []
  for await (const batch of index.overlapping({ from: floor, to: floor })) {
    if (compareRefs(firstOf(batch), floor) < 0) found.push(batch)
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
  for await (const batch of index.overlapping({ from: floor, to: lastRef })) {
    const found = passUntil(firstOf(batch))
    if (found !== undefined) return found
    for (const ref of await index.messagesOf(batch)) {
      if (compareRefs(ref, floor) >= 0)
        waiting.push({ ref: placeOf(ref), id: `${batch.chain} ${textOf(ref)}` })
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

function firstOf({ firstTime, firstNumber }: IndexedBatch): MessageRef {
  return { timestamp: firstTime, sequenceNumber: firstNumber }
}

function lastOf({ lastTime, lastNumber }: IndexedBatch): MessageRef {
  return { timestamp: lastTime, sequenceNumber: lastNumber }
}
