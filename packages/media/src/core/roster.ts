import { mediaLimits } from '../limits.ts'

interface Entry {
  readonly session: string
  seenMs: number
}

/** What a catalogue says of who is there. */
export type Seen = 'joined' | 'known' | 'replaced' | 'refused'

/** Who is in a session: who said so of late. */
export class Roster {
  readonly #entries = new Map<string, Entry>()
  #refused = 0

  /** Catalogues of members that there was no room for. */
  get membersRefused(): number {
    return this.#refused
  }

  /** Of a process; 'replaced' when it was in another session before. */
  seen(id: string, session: string, nowMs: number): Seen {
    const known = this.#entries.get(id)
    if (known?.session === session) {
      known.seenMs = nowMs
      return 'known'
    }
    if (known === undefined && this.#entries.size >= mediaLimits.maxMembers) {
      this.#refused++
      return 'refused'
    }
    this.#entries.set(id, { session, seenMs: nowMs })
    return known === undefined ? 'joined' : 'replaced'
  }

  left(id: string): boolean {
    return this.#entries.delete(id)
  }

  /** Takes out and returns who was not seen for too long. */
  expire(nowMs: number): string[] {
    const gone = [...this.#entries].filter(([, { seenMs }]) => nowMs - seenMs >= mediaLimits.memberTtlMs)
    for (const [id] of gone) this.#entries.delete(id)
    return gone.map(([id]) => id)
  }
}
