import type { Control, Track } from '../catalogue/catalogue.ts'
import type { MediaObject } from '../core/media-object.ts'
import { Roster } from '../core/roster.ts'
import { mediaLimits } from '../limits.ts'
import { replacedBy, type Member } from '../session/member.ts'
import type { KeyFrame, MemberTime, RecordingNote } from './recording-note.ts'

/** One moment: by the wall clock, which the recording is dated by, and by the monotonic one. */
export interface Moment {
  readonly atMs: number
  readonly nowMs: number
}

/** How late a catalogue may come. */
const slackMs = 1_000

/** Makes notes of what a recorder sees in a session. */
export class NoteTaker {
  readonly #beganAtMs: number
  readonly #roster = new Roster()
  readonly #members = new Map<string, Member>()
  #clocks = new Map<string, MemberTime>()
  #keys: KeyFrame[] = []
  /** When that began which no note says yet. */
  #changedAtMs: number | undefined
  #membersSaidMs: number
  /** By member, the tracks that no note says yet. */
  #unsaid = new Map<string, ReadonlySet<number>>()
  /** Whether there was a note between the last regular one and the next. */
  #isHurried = false
  #hasSaidMembers = false
  #keysLeftOut = 0

  /** Begun at that moment. */
  constructor({ atMs, nowMs }: Moment) {
    this.#beganAtMs = atMs
    this.#membersSaidMs = nowMs
  }

  /** Key frames that no note had room for. */
  get keysLeftOut(): number {
    return this.#keysLeftOut
  }

  /** What a member says of itself. Returns the tracks of pictures that were not there before. */
  control(
    member: Pick<Member, 'id' | 'userId'>,
    control: Control,
    { atMs, nowMs }: Moment,
  ): readonly number[] {
    const { id } = member
    if ('leave' in control && this.#roster.left(id, control.session))
      this.#changed(() => this.#forget(id), atMs)
    if (!('catalogue' in control)) return []
    const { catalogue } = control
    const seen = this.#roster.seen(id, catalogue.session, nowMs)
    if (seen === 'refused' || seen === 'left') return []
    const before = this.#members.get(id)?.catalogue
    if (JSON.stringify(before) === JSON.stringify(catalogue)) return []
    const now = { ...member, catalogue }
    this.#changed(() => {
      if (seen !== 'known')
        for (const other of replacedBy(now, this.#members.values())) this.#replaced(other.id)
      this.#members.set(id, now)
    }, atMs)
    const known = before?.session === catalogue.session ? before.tracks : []
    const added = catalogue.tracks.filter((track) => !known.some((other) => other.id === track.id))
    const isUnsaid = (track: Track) => added.includes(track) || this.#unsaid.get(id)?.has(track.id)
    const unsaid = catalogue.tracks.filter(isUnsaid).map((track) => track.id)
    this.#unsaid.delete(id)
    if (unsaid.length > 0) this.#unsaid.set(id, new Set(unsaid))
    return added.flatMap((track) => (track.kind === 'video' ? track.id : []))
  }

  /**
   * The note that is to be written before what a member says is taken by `control`: otherwise a track that it ends would be in none, and nobody could
   * be shown it. Once between two regular notes, however often tracks come and go; undefined where there is no need.
   */
  takeBefore(
    member: Pick<Member, 'id' | 'userId'>,
    control: Control,
    moment: Moment,
  ): RecordingNote | undefined {
    if (this.#isHurried || !this.#endsUnsaid(member, control)) return undefined
    this.#isHurried = true
    return this.#note(moment)
  }

  /** A frame of a member. */
  object(memberId: string, { kind, track, timestampUs, ...more }: MediaObject, { atMs }: Moment): void {
    const time = { memberId, atMs, timestampUs }
    const quickest = this.#clocks.get(memberId)
    if (quickest === undefined && this.#clocks.size >= mediaLimits.maxMembers) return
    if (quickest === undefined || delayOf(time) < delayOf(quickest)) this.#clocks.set(memberId, time)
    if (kind !== 'video' || !('isKey' in more) || !more.isKey) return
    if (this.#keys.length < mediaLimits.maxNoteKeys) this.#keys.push({ ...time, track })
    else this.#keysLeftOut++
  }

  /** What was seen since the last one: the regular note. */
  take(moment: Moment): RecordingNote {
    this.#isHurried = false
    return this.#note(moment)
  }

  #note({ atMs, nowMs }: Moment): RecordingNote {
    const gone = this.#roster.expire(nowMs)
    for (const id of gone) this.#changed(() => this.#forget(id), atMs)
    if (nowMs - this.#membersSaidMs >= mediaLimits.noteMembersEveryMs) this.#changedAtMs ??= atMs
    const changedAtMs = this.#changedAtMs
    if (changedAtMs !== undefined) {
      this.#membersSaidMs = nowMs
      this.#hasSaidMembers = true
      this.#unsaid = new Map()
    }
    const note = {
      beganAtMs: this.#beganAtMs,
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

  #endsUnsaid(member: Pick<Member, 'id' | 'userId'>, control: Control): boolean {
    const unsaid = this.#unsaid.get(member.id)
    if ('leave' in control) return unsaid !== undefined
    if (!('catalogue' in control)) return false
    const { catalogue } = control
    const isSame = this.#members.get(member.id)?.catalogue.session === catalogue.session
    const isOver = (id: number) => !isSame || !catalogue.tracks.some((track) => track.id === id)
    const replaced = replacedBy({ ...member, catalogue }, this.#members.values())
    return [...(unsaid ?? [])].some(isOver) || replaced.some(({ id }) => this.#unsaid.has(id))
  }

  #replaced(id: string): void {
    this.#roster.replaced(id)
    this.#forget(id)
  }

  #forget(id: string): void {
    this.#members.delete(id)
    this.#unsaid.delete(id)
  }

  #changed(change: () => void, atMs: number): void {
    change()
    // Who is heard of first was there before: members say so every few seconds. What is said already did not begin later than what comes now.
    const isBeginning =
      !this.#hasSaidMembers && atMs - this.#beganAtMs <= mediaLimits.catalogueEveryMs + slackMs
    this.#changedAtMs ??= isBeginning ? this.#beganAtMs : atMs
  }
}

/** How much later by one clock than by the other: their difference, and what the way took. */
const delayOf = ({ atMs, timestampUs }: MemberTime): number => atMs - timestampUs / 1_000
