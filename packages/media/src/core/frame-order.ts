import { mediaLimits } from '../limits.ts'
import type { VideoObject } from './media-object.ts'

/** A picture with its place. */
export interface PlacedPicture extends Pick<
  VideoObject,
  'isKey' | 'temporalLayer' | 'dependency' | 'timestampUs' | 'data'
> {
  readonly group: number
  readonly object: number
}

/** How the pictures of a track fared. */
export interface FrameCounters {
  readonly decoded: number
  /** Pictures that did not come, as far as is known: skipped numbers. */
  readonly lost: number
  /** Pictures that came after later ones, or twice. */
  readonly late: number
  /** Pictures that came without those they build on. */
  readonly undecodable: number
}

interface Waiting {
  readonly picture: PlacedPicture
  readonly sinceMs: number
}

/** How long the next picture is waited for, as messages overtake each other. */
const reorderMs = 40
/** The same when waiting pictures build on it: links send again what they lost, and neighbours are asked for it. */
const repairMs = 200

/**
 * Puts the pictures of one track in order for its decoder, which gets only pictures that build on those it got before. Begins with the key
 * frame of a group, and moves to a newer group as soon as that begins. Without layer 0 a group cannot go on: a key frame is wanted.
 */
export class FrameOrder {
  /** The group that is decoded; undefined before the first key frame. */
  #group: number | undefined
  /** Objects of it that went to the decoder; what builds on others is at most 255 behind. */
  #decoded = new Set<number>()
  #last = -1
  /** Of the group, or of a newer one whose beginning has not come; ordered by object. */
  #waiting: Waiting[] = []
  #waitingGroup = -1
  #wantsKey = true
  readonly #counters = { decoded: 0, lost: 0, late: 0, undecodable: 0 }

  get counters(): FrameCounters {
    return this.#counters
  }

  /** Whether nothing can be decoded before another key frame. */
  get wantsKey(): boolean {
    return this.#wantsKey
  }

  /** When `take` must be called again even if nothing comes; undefined if it need not be. */
  get dueMs(): number | undefined {
    const [first] = this.#waiting
    return first && this.#waitingGroup === this.#group ? this.#goesOnMs(first) : undefined
  }

  /** Takes a picture; returns what can be decoded now, in order. */
  push(picture: PlacedPicture, nowMs: number): PlacedPicture[] {
    const { group, object } = picture
    const isOld = group < (this.#group ?? 0) || (group === this.#group && object <= this.#last)
    if (isOld || group < this.#waitingGroup || this.#isWaiting(picture)) {
      this.#counters.late++
      return []
    }
    if (group > this.#waitingGroup) this.#leaveWaiting(group)
    if (picture.isKey && object === 0) this.#begin(group)
    this.#insert({ picture, sinceMs: nowMs })
    return this.take(nowMs)
  }

  /** Returns what can be decoded now that others have been waited for long enough. */
  take(nowMs: number): PlacedPicture[] {
    const taken: PlacedPicture[] = []
    while (this.#waitingGroup === this.#group) {
      const [first] = this.#waiting
      if (first === undefined) break
      const { object } = first.picture
      const isNext = object === this.#last + 1
      const isFull = this.#waiting.length > mediaLimits.maxWaitingFrames
      if (!isNext && !isFull && nowMs < this.#goesOnMs(first)) break
      this.#waiting.shift()
      this.#counters.lost += object - this.#last - 1
      this.#last = object
      if (this.#canDecode(first.picture)) taken.push(first.picture)
    }
    return taken
  }

  /** When nothing is waited for any more before it. */
  #goesOnMs({ picture, sinceMs }: Waiting): number {
    return sinceMs + (this.#hasBasis(picture) ? reorderMs : repairMs)
  }

  #hasBasis({ object, isKey, dependency }: PlacedPicture): boolean {
    return isKey || this.#decoded.has(object - dependency)
  }

  #canDecode(picture: PlacedPicture): boolean {
    const { object, temporalLayer } = picture
    if (!this.#hasBasis(picture)) {
      this.#counters.undecodable++
      if (temporalLayer === 0) this.#wantsKey = true
      return false
    }
    this.#decoded.add(object)
    this.#decoded.delete(object - 256)
    this.#counters.decoded++
    return true
  }

  #begin(group: number): void {
    this.#group = group
    this.#decoded = new Set()
    this.#last = -1
    this.#wantsKey = false
  }

  /** Whatever waits is of an older group. */
  #leaveWaiting(group: number): void {
    // Before the first key frame nothing could be lost.
    if (this.#group !== undefined) this.#counters.lost += this.#waiting.length
    this.#waiting = []
    this.#waitingGroup = group
  }

  #isWaiting({ object }: PlacedPicture): boolean {
    return this.#waiting.some(
      ({ picture }) => picture.object === object && this.#waitingGroup === picture.group,
    )
  }

  #insert(entry: Waiting): void {
    const after = this.#waiting.findIndex(({ picture }) => picture.object > entry.picture.object)
    this.#waiting.splice(after === -1 ? this.#waiting.length : after, 0, entry)
    // Its beginning is still missing: the newest are of use only with all before them.
    if (this.#waitingGroup !== this.#group && this.#waiting.length > mediaLimits.maxWaitingFrames) {
      this.#waiting.pop()
      if (this.#group !== undefined) this.#counters.lost++
      this.#wantsKey = true
    }
  }
}
