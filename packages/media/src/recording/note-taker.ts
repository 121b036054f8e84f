import type { Control } from '../catalogue/catalogue.ts'
import type { MediaObject } from '../core/media-object.ts'
import { Roster } from '../core/roster.ts'
import { mediaLimits } from '../limits.ts'
import type { Member } from '../session/member.ts'
import type { KeyFrame, MemberTime, RecordingNote } from './recording-note.ts'

/** One moment: by the wall clock, which the recording is dated by, and by the monotonic one. */
export interface Moment {
  readonly atMs: number
  readonly nowMs: number
}

/** Makes notes of what a recorder sees in a session. */
export class NoteTaker {
  readonly #roster = new Roster()
  readonly #members = new Map<string, Member>()
  #clocks = new Map<string, MemberTime>()
  #keys: KeyFrame[] = []
  /** When that began which no note says yet. */
  #changedAtMs: number | undefined
  #membersSaidMs = -Infinity
  #keysLeftOut = 0

  /** Key frames that no note had room for. */
  get keysLeftOut(): number {
    return this.#keysLeftOut
  }

  /** What a member says of itself. */
  control(member: Pick<Member, 'id' | 'userId'>, control: Control, { atMs, nowMs }: Moment): void {
    const { id } = member
    if ('leave' in control) {
      if (this.#roster.left(id)) this.#changed(() => this.#members.delete(id), atMs)
    } else if ('catalogue' in control) {
      const { catalogue } = control
      if (this.#roster.seen(id, catalogue.session, nowMs) === 'refused') return
      const isKnown = JSON.stringify(this.#members.get(id)?.catalogue) === JSON.stringify(catalogue)
      if (!isKnown) this.#changed(() => this.#members.set(id, { ...member, catalogue }), atMs)
    }
  }

  /** A frame of a member. */
  object(memberId: string, { kind, track, timestampUs, ...more }: MediaObject, { atMs }: Moment): void {
    if (!this.#members.has(memberId)) return
    const time = { memberId, atMs, timestampUs }
    const quickest = this.#clocks.get(memberId)
    if (quickest === undefined || delayOf(time) < delayOf(quickest)) this.#clocks.set(memberId, time)
    if (kind !== 'video' || !('isKey' in more) || !more.isKey) return
    if (this.#keys.length < mediaLimits.maxNoteKeys) this.#keys.push({ ...time, track })
    else this.#keysLeftOut++
  }

  /** What was seen since the last one. */
  take({ atMs, nowMs }: Moment): RecordingNote {
    const gone = this.#roster.expire(nowMs)
    for (const id of gone) this.#changed(() => this.#members.delete(id), atMs)
    if (nowMs - this.#membersSaidMs >= mediaLimits.noteMembersEveryMs) this.#changedAtMs ??= atMs
    const changedAtMs = this.#changedAtMs
    if (changedAtMs !== undefined) this.#membersSaidMs = nowMs
    const note = {
      change:
        changedAtMs === undefined ? undefined : { atMs: changedAtMs, members: [...this.#members.values()] },
      clocks: [...this.#clocks.values()],
      keys: this.#keys,
    }
    this.#clocks = new Map()
    this.#keys = []
    this.#changedAtMs = undefined
    return note
  }

  #changed(change: () => void, atMs: number): void {
    change()
    this.#changedAtMs ??= atMs
  }
}

/** How much later by one clock than by the other: their difference, and what the way took. */
const delayOf = ({ atMs, timestampUs }: MemberTime): number => atMs - timestampUs / 1_000
