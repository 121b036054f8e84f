import { compareRefs, placeOf, type MessageChain, type MessageRef, type StreamId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { GatewayLimits } from '../limits.ts'
import { encodeCursor, tagOfChain, type Cursor } from './cursor.ts'

type ChainMessage = MessageChain & MessageRef

interface Head {
  place: MessageRef
  /** When its last message came, by the wall clock; in history, when that was published. */
  seenMs: number
}

/**
 * Keeps the cursor of one reader. Chains are listed while they are newer than the floor, or still send: one whose clock is slow stays
 * listed, so that what it publishes while the reader is away is not taken for old.
 */
export class CursorKeeper {
  readonly #limits: Pick<GatewayLimits, 'maxCursorChains' | 'maxTrackedChains' | 'cursorOverlapMs'>
  readonly #heads: LRU<Head>
  /** Of the cursor that was begun with. */
  readonly #startMs: number | undefined
  /** Undefined before the first message, where nothing is known of when that is. */
  #floorMs: number | undefined

  /** `liveMs`: since when the reader reads that has no cursor to begin with and begins live; so it has one before its first message. */
  constructor(
    limits: Pick<GatewayLimits, 'maxCursorChains' | 'maxTrackedChains' | 'cursorOverlapMs'>,
    start: Cursor | undefined,
    liveMs?: number,
  ) {
    this.#limits = limits
    this.#heads = new LRU(limits.maxTrackedChains)
    this.#startMs = start?.floorMs
    this.#floorMs = start?.floorMs ?? liveMs
    for (const [tag, place] of start?.heads ?? [])
      this.#heads.set(tag, { place, seenMs: start?.floorMs ?? 0 })
  }

  /**
   * False for a message that was delivered before, by the cursor that was begun with. Of a chain that was not, all is new: its publisher's
   * clock may be behind those of the others, and partitions of history come one behind the other.
   */
  isNew(message: ChainMessage): boolean {
    const head = this.#heads.peek(tagOfChain(message))
    if (head !== undefined) return compareRefs(message, head.place) > 0
    return this.#startMs === undefined || message.timestamp >= this.#startMs
  }

  /** A message is delivered that came at `nowMs`, by the wall clock: everything that came before it is delivered, too. */
  deliver(message: ChainMessage, nowMs: number, isLive: boolean): void {
    const { timestamp } = message
    // Neither a clock ahead, here or at a publisher, nor one behind moves the floor past what may still come.
    const settledMs = Math.min(nowMs, timestamp) - this.#limits.cursorOverlapMs
    this.#floorMs = this.#floorMs === undefined ? timestamp : Math.max(this.#floorMs, settledMs)
    this.#heads.set(tagOfChain(message), { place: placeOf(message), seenMs: isLive ? nowMs : timestamp })
  }

  /** The cursor as text; undefined before the first message, where none was begun with. */
  text(streamId: StreamId): string | undefined {
    const floorMs = this.#floorMs
    if (floorMs === undefined) return undefined
    let heads: [string, MessageRef][] = []
    for (const tag of this.#heads.keys() as Iterable<string>) {
      const head = this.#heads.peek(tag)
      if (head === undefined) continue
      if (head.place.timestamp >= floorMs || head.seenMs >= floorMs) heads.push([tag, head.place])
      else this.#heads.delete(tag)
    }
    if (heads.length > this.#limits.maxCursorChains)
      heads = heads.toSorted(([, a], [, b]) => compareRefs(b, a)).slice(0, this.#limits.maxCursorChains)
    return encodeCursor(streamId, { floorMs, heads: new Map(heads) })
  }
}
