import {
  compareRefs,
  laterPlace,
  placeOf,
  type MessageChain,
  type MessageRef,
  type MissingRange,
  type NodeId,
} from '@runnel/protocol'
import { NewestHolders } from './newest-holders.ts'
import { RangeList } from './range-list.ts'

/** The state of the search for a missing range; kept by the gap filler. */
export interface Fill {
  readonly openedMs: number
  /** When the next step is due. */
  dueMs: number
  /** Neighbours asked without success so far. */
  tries: number
  /** Which neighbour is next. Also moves past those that sent some of it, or had no room for the question. */
  turn: number
  /** How often each neighbour answered that it does not have it; undefined while none did. */
  denials: Map<NodeId, number> | undefined
  /** The fetch under way, or 0. */
  requestId: number
  archive: 'unasked' | 'asked' | 'empty'
  /** A neighbour was asked for it. */
  wasAsked: boolean
  /** Messages of it that have come since it was last fetched. */
  fed: number
}

/** A range that may still be filled. */
export interface OpenRange {
  readonly progress: ChainProgress
  /** Both stay the same while the range shrinks. */
  after: MessageRef
  upTo: MessageRef
  /** Undefined: nobody looks for it, but what comes is accepted. */
  fill: Fill | undefined
}

/** Called with the changes to a chain's missing ranges. May drop ranges, even while it is told of one that opened. */
export interface RangeWatch {
  /** A range opened; when it is looked for, its `fill` is at its beginning. */
  opened(range: OpenRange, nowMs: number): void
  /** The end of an open range was split off as a range of its own. */
  split(range: OpenRange, from: OpenRange): void
  /** The last place of a range came. */
  closed(range: OpenRange): void
  /** Messages published too long before a message to be looked for. */
  unreachable(progress: ChainProgress, range: MissingRange): void
}

export interface ChainProgressOptions {
  readonly chain: MessageChain
  /** The start of the time whose messages are wanted. */
  readonly joinedMs: number
  readonly chainLookBackMs: number
  readonly maxGapReachMs: number
  /** Nothing up to here is accepted: it may have been seen before the chain was forgotten. */
  readonly floor?: MessageRef | undefined
}

/** A message's place and the place it names as its previous. */
export interface ChainLink extends MessageRef {
  readonly previous: MessageRef | undefined
}

/**
 * How far one message chain was received: the newest place, and the missing ranges before it. A message names its previous one,
 * so nothing lies between the two, and a gap is known the moment it opens.
 *
 * Look-up (`isNew`) and marking are separate because a message is verified in between.
 */
export class ChainProgress {
  /** Orders chains by use; kept by the owner. */
  lastUsedMs = 0
  /** This process publishes it; kept by the owner. */
  isOwn = false
  /** How often its publisher was proven to have signed two messages for one place; kept by the owner. */
  evidence = 0
  /** Who has `newest`; kept by the owner. */
  readonly holders = new NewestHolders()
  readonly #options: ChainProgressOptions
  readonly #watch: RangeWatch
  #newest: MessageRef | undefined
  readonly #wanted = new RangeList<OpenRange>()
  readonly #late = new RangeList<OpenRange>()

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

  /** The ranges that are looked for, ascending. */
  get wanted(): readonly OpenRange[] {
    return this.#wanted.all
  }

  /** The ranges that nobody looks for, ascending. */
  get late(): readonly OpenRange[] {
    return this.#late.all
  }

  /** True when the place was not marked yet and may be. Logarithmic in the missing ranges. */
  isNew(place: MessageRef): boolean {
    const { floor } = this.#options
    if (this.#newest === undefined) return floor === undefined || compareRefs(place, floor) > 0
    if (compareRefs(place, this.#newest) > 0) return true
    return this.#rangeAround(place) !== undefined
  }

  /** True when the place is missing and is being looked for. */
  isWanted(place: MessageRef): boolean {
    return this.#wanted.around(place) !== undefined
  }

  /** Marks a message for which `isNew` was true. */
  mark(message: ChainLink, nowMs: number): void {
    const newest = this.#newest
    const place = placeOf(message)
    if (newest === undefined) {
      this.#newest = place
      this.#begin(place, message.previous, nowMs)
    } else if (compareRefs(place, newest) > 0) {
      this.#newest = place
      const { previous } = message
      if (previous !== undefined && compareRefs(previous, newest) > 0)
        this.#skip(newest, previous, place, nowMs)
    } else this.#fill(place, message.previous)
  }

  /** Stops looking for a range. */
  giveUp(range: OpenRange): void {
    if (!this.#wanted.delete(range)) return
    range.fill = undefined
    this.#late.add(range)
  }

  /** Stops accepting anything in a range. */
  drop(range: OpenRange): void {
    if (!this.#wanted.delete(range)) this.#late.delete(range)
  }

  /**
   * The first message. Older ones may still come by other paths. Those since the stream part was joined are looked for. When
   * that was by the publisher's clock follows from this message, which is assumed to be fresh.
   */
  #begin(place: MessageRef, previous: MessageRef | undefined, nowMs: number): void {
    const { chainLookBackMs, joinedMs, floor } = this.#options
    if (previous === undefined) return
    const earliest = laterPlace(floor, timeBefore(place, chainLookBackMs))
    const joined = laterPlace(earliest, timeBefore(place, nowMs - joinedMs))
    const isWanted = compareRefs(previous, joined) > 0
    this.#open(earliest, isWanted ? joined : previous, false, nowMs)
    if (isWanted) this.#open(joined, previous, true, nowMs)
  }

  /** A later message came, but not what lies between it and `newest`. */
  #skip(newest: MessageRef, previous: MessageRef, place: MessageRef, nowMs: number): void {
    const earliest = timeBefore(place, this.#options.maxGapReachMs)
    if (compareRefs(earliest, newest) <= 0) this.#open(newest, previous, true, nowMs)
    else {
      const upTo = compareRefs(previous, earliest) < 0 ? placeOf(previous) : earliest
      this.#watch.unreachable(this, { after: newest, upTo })
      this.#open(earliest, previous, true, nowMs)
    }
  }

  #open(after: MessageRef, upTo: MessageRef, isWanted: boolean, nowMs: number): void {
    if (compareRefs(upTo, after) <= 0) return
    const fill = isWanted ? newFill(nowMs) : undefined
    const range: OpenRange = { progress: this, after, upTo: placeOf(upTo), fill }
    this.#listOf(range).add(range)
    this.#watch.opened(range, nowMs)
  }

  /** Removes `place`, and everything back to `previous`, from the range it lies in. */
  #fill(place: MessageRef, previous: MessageRef | undefined): void {
    const range = this.#rangeAround(place)
    if (range === undefined) return
    const { after, upTo, fill } = range
    if (fill !== undefined) fill.fed++
    const isBeforeLeft = previous !== undefined && compareRefs(previous, after) > 0
    const isAfterLeft = compareRefs(place, upTo) < 0
    if (isBeforeLeft) range.upTo = placeOf(previous)
    else if (isAfterLeft) range.after = place
    else {
      this.drop(range)
      this.#watch.closed(range)
    }
    if (!isBeforeLeft || !isAfterLeft) return
    // Each is denied for itself from now on.
    const ofRest = fill && { ...fill, denials: fill.denials && new Map(fill.denials) }
    const rest: OpenRange = { progress: this, after: place, upTo, fill: ofRest }
    this.#listOf(rest).add(rest)
    this.#watch.split(rest, range)
  }

  #listOf({ fill }: OpenRange): RangeList<OpenRange> {
    return fill === undefined ? this.#late : this.#wanted
  }

  #rangeAround(place: MessageRef): OpenRange | undefined {
    return this.#wanted.around(place) ?? this.#late.around(place)
  }
}

function newFill(openedMs: number): Fill {
  return {
    openedMs,
    dueMs: openedMs,
    tries: 0,
    turn: 0,
    denials: undefined,
    requestId: 0,
    archive: 'unasked',
    wasAsked: false,
    fed: 0,
  }
}

/** That long before a place, and never before the epoch. */
function timeBefore({ timestamp }: MessageRef, durationMs: number): MessageRef {
  return { timestamp: Math.max(0, timestamp - durationMs), sequenceNumber: 0 }
}
