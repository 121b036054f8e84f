import { dropOldest } from '@runnel/protocol'
import { mediaLimits } from '../limits.ts'

interface Entry {
  readonly session: string
  seenMs: number
}

/** What a catalogue says of who is there. */
export type Seen = 'joined' | 'known' | 'replaced' | 'refused' | 'left'

/** Who is in a session: who said so of late. */
export class Roster {
  readonly #entries = new Map<string, Entry>()
  /** Who said goodbye, and of which session: what it said before may come later. */
  readonly #left = new Set<string>()
  /** By member, the session whose goodbye came before anything else of it. Apart from the others, as it costs nothing to invent one. */
  readonly #leftFirst = new Map<string, string>()
  #refused = 0

  /** Catalogues of members that there was no room for. */
  get membersRefused(): number {
    return this.#refused
  }

  /** Of a process; 'replaced' when it was in another session before, 'left' when that session is over. */
  seen(id: string, session: string, nowMs: number): Seen {
    const known = this.#entries.get(id)
    if (known?.session === session) {
      known.seenMs = nowMs
      return 'known'
    }
    if (this.#left.has(`${id} ${session}`) || this.#leftFirst.get(id) === session) return 'left'
    if (known === undefined && this.#entries.size >= mediaLimits.maxMembers) {
      this.#refused++
      return 'refused'
    }
    this.#entries.set(id, { session, seenMs: nowMs })
    return known === undefined ? 'joined' : 'replaced'
  }

  /** It said goodbye, from a session; members of earlier versions do not say from which. False where it was not there, or is in another one. */
  left(id: string, session?: string): boolean {
    const known = this.#entries.get(id)
    if (known === undefined || (session ?? known.session) !== known.session) {
      if (session !== undefined) this.#leftFirst.set(id, session)
      dropOldest(this.#leftFirst, mediaLimits.maxMembers)
      return false
    }
    this.#left.add(`${id} ${known.session}`)
    dropOldest(this.#left, mediaLimits.maxMembers)
    return this.#entries.delete(id)
  }

  /** Its user says that it is over; where it is not, it says so itself. */
  replaced(id: string): void {
    this.#entries.delete(id)
  }

  /** Takes out and returns who was not seen for too long. */
  expire(nowMs: number): string[] {
    const gone = [...this.#entries].filter(([, { seenMs }]) => nowMs - seenMs >= mediaLimits.memberTtlMs)
    for (const [id] of gone) this.#entries.delete(id)
    return gone.map(([id]) => id)
  }
}
