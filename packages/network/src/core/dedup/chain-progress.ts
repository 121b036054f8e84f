import {
  compareRefs,
  type MessageChain,
  type MessageRef,
  type MissingRange,
  type NodeId,
} from '@runnel/protocol'
import { NewestHolders } from './newest-holders.ts'

/** How far the search for what is missing has got; kept by the gap filler. */
export interface Fill {
  readonly openedMs: number
  /** When the next step is due. */
  dueMs: number
  /** Neighbours asked without success so far. */
  tries: number
  /** How often each neighbour said that it does not have it; undefined while none did. */
  denials: Map<NodeId, number> | undefined
  /** The fetch under way, or 0. */
  requestId: number
  archive: 'unasked' | 'asked' | 'empty'
  /** Some of it has come since it was last asked for. */
  isFed: boolean
}

/** A range that may still be filled. Without `fill` nobody looks for it: what comes is taken all the same. */
export interface OpenRange extends MissingRange {
  readonly fill: Fill | undefined
}

/** Hears what becomes of the ranges of a chain. */
export interface RangeWatch {
  /** A range opened. What it returns goes with the range, and with its parts. */
  opened(progress: ChainProgress, nowMs: number): Fill | undefined
  /** The last place of a range came. */
  closed(fill: Fill, nowMs: number): void
  /** Forgotten, as there were too many. */
  dropped(progress: ChainProgress, range: OpenRange): void
}

export interface ChainProgressOptions {
  readonly chain: MessageChain
  /** Since when its messages are wanted. */
  readonly joinedMs: number
  readonly maxMissingRanges: number
  readonly chainLookBackMs: number
}

/** A message's place and what it says of the place before. */
export interface ChainLink extends MessageRef {
  readonly previous: MessageRef | undefined
}

/**
 * How far one message chain was received: the newest place, and the ranges before it that are missing. A message names
 * its previous one, so nothing lies between the two, and a gap is known the moment it opens.
 *
 * Looking up (`isNew`) and marking are apart, as a message is verified between the two.
 */
export class ChainProgress {
  /** Orders chains by use; kept by the owner. */
  lastUsedMs = 0
  /** Who has `newest`; kept by the owner. */
  readonly holders = new NewestHolders()
  readonly #options: ChainProgressOptions
  readonly #watch: RangeWatch
  #newest: MessageRef | undefined
  /** Ascending, apart from each other. */
  #missing: OpenRange[] = []

  constructor(options: ChainProgressOptions, watch: RangeWatch) {
    this.#options = options
    this.#watch = watch
  }

  get chain(): MessageChain {
    return this.#options.chain
  }

  get newest(): MessageRef | undefined {
    return this.#newest
  }

  get missing(): readonly OpenRange[] {
    return this.#missing
  }

  /** True when the place was not marked yet and may be. Logarithmic in the missing ranges. */
  isNew(place: MessageRef): boolean {
    if (this.#newest === undefined || compareRefs(place, this.#newest) > 0) return true
    return this.#rangeAround(place) !== undefined
  }

  /** True when the place is missing and is being looked for. */
  isWanted(place: MessageRef): boolean {
    const at = this.#rangeAround(place)
    return at !== undefined && this.#missing[at]?.fill !== undefined
  }

  /** Marks a message for which `isNew` was true. */
  mark(message: ChainLink, nowMs: number): void {
    const newest = this.#newest
    const place = plainRef(message)
    if (newest === undefined) {
      this.#newest = place
      this.#begin(place, message.previous, nowMs)
    } else if (compareRefs(place, newest) > 0) {
      this.#newest = place
      this.#append(newest, message.previous, this.#watch, nowMs)
    } else this.#fill(place, message.previous, nowMs)
  }

  /** Nobody looks any longer for the ranges that meet the condition; they are returned. */
  giveUp(condition: (fill: Fill) => boolean): MissingRange[] {
    const lost: MissingRange[] = []
    this.#missing = this.#missing.map((range) => {
      if (range.fill === undefined || !condition(range.fill)) return range
      lost.push(range)
      return { after: range.after, upTo: range.upTo, fill: undefined }
    })
    return lost
  }

  /**
   * The first message: some older ones may still come by other ways. Those since the stream part was joined are looked
   * for. When that was by the publisher's clock is told by this message, which is taken to be fresh.
   */
  #begin(place: MessageRef, previous: MessageRef | undefined, nowMs: number): void {
    const { chainLookBackMs, joinedMs } = this.#options
    const horizon = { timestamp: place.timestamp - chainLookBackMs, sequenceNumber: 0 }
    const joined = { timestamp: place.timestamp - (nowMs - joinedMs), sequenceNumber: 0 }
    const isWanted = previous !== undefined && compareRefs(previous, joined) > 0
    if (!isWanted) this.#append(horizon, previous, undefined, nowMs)
    else if (compareRefs(joined, horizon) <= 0) this.#append(horizon, previous, this.#watch, nowMs)
    else {
      this.#append(horizon, joined, undefined, nowMs)
      this.#append(joined, previous, this.#watch, nowMs)
    }
  }

  #append(
    after: MessageRef,
    upTo: MessageRef | undefined,
    watch: RangeWatch | undefined,
    nowMs: number,
  ): void {
    if (upTo === undefined || compareRefs(upTo, after) <= 0) return
    this.#missing.push({ after, upTo: plainRef(upTo), fill: watch?.opened(this, nowMs) })
    this.#trim()
  }

  /** Takes `place`, and the stretch back to `previous`, out of the range it lies in. */
  #fill(place: MessageRef, previous: MessageRef | undefined, nowMs: number): void {
    const at = this.#rangeAround(place)
    if (at === undefined) return
    const range = this.#missing[at] as OpenRange
    const { fill } = range
    const rest: OpenRange[] = []
    if (fill !== undefined) fill.isFed = true
    if (previous !== undefined && compareRefs(previous, range.after) > 0) {
      rest.push({ after: range.after, upTo: plainRef(previous), fill })
    }
    if (compareRefs(place, range.upTo) < 0) {
      rest.push({ after: place, upTo: range.upTo, fill: fill && { ...fill } })
    }
    this.#missing.splice(at, 1, ...rest)
    if (rest.length === 0 && fill !== undefined) this.#watch.closed(fill, nowMs)
    this.#trim()
  }

  #trim(): void {
    const excess = this.#missing.length - this.#options.maxMissingRanges
    if (excess <= 0) return
    for (const range of this.#missing.splice(0, excess)) this.#watch.dropped(this, range)
  }

  #rangeAround(place: MessageRef): number | undefined {
    let low = 0
    let high = this.#missing.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const range = this.#missing[middle] as OpenRange
      if (compareRefs(place, range.upTo) > 0) low = middle + 1
      else if (compareRefs(place, range.after) <= 0) high = middle
      else return middle
    }
    return undefined
  }
}

/** Without what else the object holds: a message would keep its bytes alive. */
function plainRef(ref: MessageRef): MessageRef {
  return { timestamp: ref.timestamp, sequenceNumber: ref.sequenceNumber }
}
