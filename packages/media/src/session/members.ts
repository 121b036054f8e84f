import { Roster } from '../core/roster.ts'
import { replacedBy, type LeaveReason, type Member } from './member.ts'

export interface MembersEvents {
  /** Somebody came, left, or announced something new. */
  changed(): void
  /** A member has left; `changed` follows. */
  left(member: Member, reason: LeaveReason): void
  /** Somebody has just come, who knows nobody. */
  came(): void
}

/** Who else is in a session, and what they announced last. */
export class Members {
  readonly #events: MembersEvents
  readonly #roster = new Roster()
  readonly #members = new Map<string, Member>()

  constructor(events: MembersEvents) {
    this.#events = events
  }

  get all(): readonly Member[] {
    return [...this.#members.values()]
  }

  /** Catalogues of members that there was no room for. */
  get refused(): number {
    return this.#roster.membersRefused
  }

  get(id: string): Member | undefined {
    return this.#members.get(id)
  }

  /** A frame of it came. What it says may wait behind much else on a slow link, which what is urgent overtakes. */
  heard({ id, catalogue }: Member, nowMs: number): void {
    this.#roster.seen(id, catalogue.session, nowMs)
  }

  /** It announced itself. */
  announced(member: Member, nowMs: number): void {
    const { id, catalogue } = member
    const seen = this.#roster.seen(id, catalogue.session, nowMs)
    if (seen === 'refused' || seen === 'left') return
    const before = this.#members.get(id)
    if (seen !== 'known')
      for (const other of replacedBy(member, this.#members.values())) {
        this.#roster.replaced(other.id)
        this.#gone(other.id, 'replaced')
      }
    this.#members.set(id, member)
    if (seen !== 'known') this.#events.came()
    if (seen !== 'known' || JSON.stringify(before?.catalogue) !== JSON.stringify(catalogue))
      this.#events.changed()
  }

  /** It said goodbye, from a session; members of earlier versions do not say from which. */
  saidGoodbye(id: string, session: string | undefined): void {
    if (!this.#roster.left(id, session)) return
    this.#gone(id, 'goodbye')
    this.#events.changed()
  }

  /** Lets go of those who were silent for too long. */
  expire(nowMs: number): void {
    const gone = this.#roster.expire(nowMs)
    for (const id of gone) this.#gone(id, 'silence')
    if (gone.length > 0) this.#events.changed()
  }

  #gone(id: string, reason: LeaveReason): void {
    const member = this.#members.get(id)
    this.#members.delete(id)
    if (member !== undefined) this.#events.left(member, reason)
  }
}
