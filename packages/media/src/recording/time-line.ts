import { firstIndex } from '@runnel/protocol'
import { mediaLimits } from '../limits.ts'
import type { Member } from '../session/member.ts'
import type { KeyFrame, MembersChange, MemberTime, RecordingNote } from './recording-note.ts'

/** A range of time, in Unix milliseconds of the recorder's clock. */
export interface TimeRange {
  readonly fromMs: number
  readonly toMs: number
}

interface Dated {
  readonly atMs: number
}

/** What the notes of a recording say: who was there when, where key frames are, and how members' clocks differ from the recorder's. */
export class TimeLine {
  readonly #changes: MembersChange[] = []
  readonly #clocks = new Map<string, MemberTime[]>()
  readonly #keys = new Map<string, KeyFrame[]>()
  /** Lists that are to be sorted before they are looked at. */
  readonly #unsorted = new Set<readonly Dated[]>()
  #entries = 0
  #entriesLeftOut = 0
  #range: TimeRange | undefined

  /** Undefined before the first note. */
  get range(): TimeRange | undefined {
    return this.#range
  }

  /** Key frames, times and changes for which there was no room. */
  get entriesLeftOut(): number {
    return this.#entriesLeftOut
  }

  /** Every member that was ever there, in each of its states. */
  get members(): readonly Member[] {
    return this.#changes.flatMap(({ members }) => members)
  }

  /** Takes a note that was written at that time. */
  add({ change, clocks, keys }: RecordingNote, atMs: number): void {
    const { fromMs, toMs } = this.#range ?? { fromMs: atMs, toMs: atMs }
    this.#range = { fromMs: Math.min(fromMs, atMs), toMs: Math.max(toMs, atMs) }
    if (change !== undefined) this.#addChange(change)
    for (const clock of clocks) this.#add(this.#clocks, clock.memberId, clock)
    for (const key of keys) this.#add(this.#keys, trackKey(key.memberId, key.track), key)
  }

  /** The members present. The same array while nobody comes, leaves or changes. */
  membersAt(atMs: number): readonly Member[] {
    return lastUpTo(this.#changes, atMs)?.members ?? []
  }

  /** The newest known key frame of a track that the recorder had by then. */
  keyBefore(memberId: string, track: number, atMs: number): KeyFrame | undefined {
    return lastUpTo(this.#sorted(this.#keys.get(trackKey(memberId, track))), atMs)
  }

  /**
   * Milliseconds to add to a member's own times to get the recorder's: the smallest value within some minutes, as larger ones include delays on
   * the way. Undefined if no note says.
   */
  offsetMs(memberId: string, atMs: number): number | undefined {
    const clocks = this.#sorted(this.#clocks.get(memberId))
    // A note tells of the seconds before it.
    const at = Math.max(0, countUpTo(clocks, atMs + mediaLimits.noteEveryMs) - 1)
    const [clock] = clocks.slice(at)
    if (clock === undefined) return undefined
    return Math.min(delayOf(clock), ...delaysFrom(clocks, at, 1), ...delaysFrom(clocks, at, -1))
  }

  #addChange(change: MembersChange): void {
    if (this.#changes.length >= mediaLimits.maxTimeLineChanges) {
      this.#entriesLeftOut++
      return
    }
    const before = lastUpTo(this.#changes, change.atMs)
    // So that what stays the same is one object.
    const isSame = JSON.stringify(before?.members) === JSON.stringify(change.members)
    if (!isSame) this.#changes.splice(countUpTo(this.#changes, change.atMs), 0, change)
  }

  #add<T extends Dated>(lists: Map<string, T[]>, key: string, entry: T): void {
    if (this.#entries >= mediaLimits.maxTimeLineEntries) {
      this.#entriesLeftOut++
      return
    }
    this.#entries++
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [entry])
    else {
      // Mostly they come in order; put in place one by one, those of a liar would take hours.
      if (entry.atMs < (list.at(-1)?.atMs ?? 0)) this.#unsorted.add(list)
      list.push(entry)
    }
  }

  #sorted<T extends Dated>(list: T[] = []): readonly T[] {
    if (this.#unsorted.delete(list)) list.sort((a, b) => a.atMs - b.atMs)
    return list
  }
}

/** Clocks drift apart by only some milliseconds in this time. */
const sameOffsetMs = 120_000

const delayOf = ({ atMs, timestampUs }: MemberTime): number => atMs - timestampUs / 1_000

/** Of those before or after one, near it: up to where the member began to count anew. */
function delaysFrom(clocks: readonly MemberTime[], at: number, step: 1 | -1): number[] {
  const delays: number[] = []
  for (let i = at; ; i += step) {
    const [one, next] = [clocks[i], clocks[i + step]]
    if (one === undefined || next === undefined) return delays
    const isAnew = (next.timestampUs - one.timestampUs) * step < 0
    if (isAnew || Math.abs(next.atMs - (clocks[at]?.atMs ?? 0)) > sameOffsetMs) return delays
    delays.push(delayOf(next))
  }
}

const trackKey = (memberId: string, track: number): string => `${memberId} ${track}`

/** How many of them are of that time or before. */
const countUpTo = (entries: readonly Dated[], atMs: number): number =>
  firstIndex(entries, (entry) => entry.atMs > atMs)

const lastUpTo = <T extends Dated>(entries: readonly T[], atMs: number): T | undefined =>
  entries[countUpTo(entries, atMs) - 1]
