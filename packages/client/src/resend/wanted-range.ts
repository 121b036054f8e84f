import {
  compareRefs,
  type MessageBatch,
  type MessageRef,
  type ResendSelection,
  type ResendStart,
  type StreamMessage,
} from '@runnel/protocol'
import { firstPlace, lastPlace } from './selection.ts'

interface Claim {
  readonly partition: number
  readonly extent: ResendStart
}

/**
 * Which received messages are wanted. `last` begins where most storage nodes of a stream part say; this is confirmed only when
 * all messages have arrived, so messages left out are counted.
 */
export class WantedRange {
  readonly #selection: ResendSelection
  readonly #areClaimsBelieved: boolean
  /** What sources that were asked for the last so many say these are. */
  readonly #claims = new Map<number, Claim>()
  readonly #to: MessageRef
  #from: MessageRef
  /** The oldest place that a source has. */
  #keptFrom: MessageRef | undefined
  #leftOut = 0

  /** `areClaimsBelieved`: false when they have proved wrong before. */
  constructor(selection: ResendSelection, areClaimsBelieved: boolean) {
    this.#selection = selection
    this.#areClaimsBelieved = areClaimsBelieved
    this.#from = selection.kind === 'range' ? selection.from : firstPlace
    this.#to = selection.kind === 'range' ? selection.to : lastPlace
  }

  /** Messages left out because the last so many were said to begin later. */
  get leftOut(): number {
    return this.#leftOut
  }

  /** Of chains that nothing is known of, messages that others name are missing from here on. */
  get gapFloor(): MessageRef {
    const kept = this.#keptFrom
    return kept !== undefined && compareRefs(kept, this.#from) > 0 ? kept : this.#from
  }

  /**
   * Where the last `n` begin, if all sources of each stream part agree, and announce no more than is wanted in sum: if one of
   * them is honest, no earlier message is among the last.
   */
  get agreedBegin(): MessageRef | undefined {
    if (this.#selection.kind !== 'last' || !this.#areClaimsBelieved) return undefined
    let count = 0
    for (const [first, ...others] of this.#claimsByPartition()) {
      if (first === undefined || first.count === 0 || others.some((other) => !isSame(first, other))) {
        return undefined
      }
      count += first.count
    }
    return count > 0 && count <= this.#selection.count ? this.#from : undefined
  }

  /** A source announces what it has. */
  add(source: number, partition: number, extent: ResendStart, asked: ResendSelection): void {
    if (this.#keptFrom === undefined || compareRefs(extent.from, this.#keptFrom) < 0) {
      this.#keptFrom = extent.from
    }
    if (asked.kind !== 'last') return
    this.#claims.set(source, { partition, extent })
    this.#narrow()
  }

  /** A source is given up. */
  remove(source: number): void {
    if (this.#claims.delete(source)) this.#narrow()
  }

  /** The wanted messages of a batch. */
  of({ messages }: MessageBatch): readonly StreamMessage[] {
    const until = messages.filter((message) => compareRefs(message, this.#to) <= 0)
    const wanted = until.filter((message) => compareRefs(message, this.#from) >= 0)
    this.#leftOut += until.length - wanted.length
    return wanted
  }

  /** The wanted range after a place; all of it when nothing was taken yet. */
  after(place: MessageRef | undefined): ResendSelection {
    return place === undefined ? this.#selection : { kind: 'range', from: place, to: this.#to }
  }

  /** What begins before the last of a stream part, as most of its sources say, need not be looked at. */
  #narrow(): void {
    if (this.#selection.kind !== 'last' || !this.#areClaimsBelieved) return
    const { count: asked } = this.#selection
    this.#from = firstPlace
    for (const extents of this.#claimsByPartition()) {
      // Only one that has as many as were asked for knows where the last of all begin, at the earliest.
      const places = extents.map(({ count, from }) => (count === asked ? from : firstPlace))
      const median = places.toSorted(compareRefs)[Math.floor((places.length - 1) / 2)]
      if (median !== undefined && compareRefs(median, this.#from) > 0) this.#from = median
    }
  }

  #claimsByPartition(): readonly (readonly ResendStart[])[] {
    const claims = [...this.#claims.values()]
    const partitions = new Set(claims.map(({ partition }) => partition))
    return [...partitions].map((partition) =>
      claims.filter((claim) => claim.partition === partition).map(({ extent }) => extent),
    )
  }
}

const isSame = (a: ResendStart, b: ResendStart): boolean =>
  a.count === b.count && compareRefs(a.from, b.from) === 0 && compareRefs(a.to, b.to) === 0
