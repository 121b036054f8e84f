import { compareRefs, type MessageRef } from '@runnel/protocol'

/** What is missing: everything after `after`, up to and including `upTo`. */
interface MissingRange {
  after: MessageRef
  upTo: MessageRef
}

export interface ChainProgressLimits {
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
  readonly #limits: ChainProgressLimits
  #newest: MessageRef | undefined
  /** Ascending, apart from each other. */
  readonly #missing: MissingRange[] = []

  constructor(limits: ChainProgressLimits) {
    this.#limits = limits
  }

  get newest(): MessageRef | undefined {
    return this.#newest
  }

  get missingRanges(): number {
    return this.#missing.length
  }

  /** True when the place was not marked yet and may be. Logarithmic in the missing ranges. */
  isNew(place: MessageRef): boolean {
    if (this.#newest === undefined || compareRefs(place, this.#newest) > 0) return true
    return this.#rangeAround(place) !== undefined
  }

  /** Marks a message for which `isNew` was true. Returns how many missing ranges were dropped for it. */
  mark(message: ChainLink): number {
    const newest = this.#newest
    const place = plainRef(message)
    if (newest === undefined) {
      const horizon = { timestamp: message.timestamp - this.#limits.chainLookBackMs, sequenceNumber: 0 }
      this.#newest = place
      return this.#append(horizon, message.previous)
    }
    if (compareRefs(place, newest) > 0) {
      this.#newest = place
      return this.#append(newest, message.previous)
    }
    return this.#fill(place, message.previous)
  }

  #append(after: MessageRef, upTo: MessageRef | undefined): number {
    if (upTo === undefined || compareRefs(upTo, after) <= 0) return 0
    this.#missing.push({ after, upTo: plainRef(upTo) })
    return this.#trim()
  }

  /** Takes `place`, and the stretch back to `previous`, out of the range it lies in. */
  #fill(place: MessageRef, previous: MessageRef | undefined): number {
    const at = this.#rangeAround(place)
    if (at === undefined) return 0
    const range = this.#missing[at] as MissingRange
    const rest: MissingRange[] = []
    if (previous !== undefined && compareRefs(previous, range.after) > 0) {
      rest.push({ after: range.after, upTo: plainRef(previous) })
    }
    if (compareRefs(place, range.upTo) < 0) rest.push({ after: place, upTo: range.upTo })
    this.#missing.splice(at, 1, ...rest)
    return this.#trim()
  }

  #trim(): number {
    const excess = this.#missing.length - this.#limits.maxMissingRanges
    if (excess <= 0) return 0
    this.#missing.splice(0, excess)
    return excess
  }

  #rangeAround(place: MessageRef): number | undefined {
    let low = 0
    let high = this.#missing.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const range = this.#missing[middle] as MissingRange
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
