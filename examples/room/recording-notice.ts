import type { LeaveReason, MediaSession, Member } from '@runnel/media/page'
import { element, sayWhatFailed } from '../shared/page.ts'

/** Of those who say that they record and are no members, which is not known at first. */
const maxUnknown = 100
/** Newcomers are told together, as one can come anew as often as it likes. */
const tellEveryMs = 1_000

/** Says in each page who records the room, also to those who come in meanwhile. */
export class RecordingNotice {
  readonly #session: MediaSession
  /** User and session of those who say so. Only members are shown. */
  readonly #recording = new Set<string>()
  #isRecording = false
  #told = new Set<string>()
  #telling: ReturnType<typeof setTimeout> | undefined

  constructor(session: MediaSession) {
    this.#session = session
  }

  start(): void {
    this.#session.on('message', ({ content, publisherId }) => {
      const { recording } = (content ?? {}) as { readonly recording?: { session?: unknown; is?: unknown } }
      if (typeof recording?.session !== 'string' || recording.session.length !== 16) return
      const key = keyOf(publisherId, recording.session)
      if (recording.is === true) this.#recording.add(key)
      else this.#recording.delete(key)
      this.#forgetUnknown()
      this.#show()
    })
    this.#session.on('left', (member, reason) => this.#left(member, reason))
    this.#session.on('members', () => this.#membersChanged())
    this.#show()
  }

  /** This page records from now on, or no longer. */
  changed(isRecording: boolean): void {
    this.#isRecording = isRecording
    this.#tell()
    this.#show()
  }

  /** The room is left. */
  stop(): void {
    clearTimeout(this.#telling)
    this.#isRecording = false
    this.#recording.clear()
    this.#show()
  }

  /** Whoever is silent may be there again, and record all the time. */
  #left({ userId, catalogue }: Member, reason: LeaveReason): void {
    if (reason !== 'silence') this.#recording.delete(keyOf(userId, catalogue.session))
    this.#show()
  }

  #forgetUnknown(): void {
    const known = new Set(
      this.#session.members.map(({ userId, catalogue }) => keyOf(userId, catalogue.session)),
    )
    const unknown = [...this.#recording].filter((key) => !known.has(key))
    for (const key of unknown.slice(0, -maxUnknown)) this.#recording.delete(key)
  }

  #membersChanged(): void {
    const ids = this.#session.members.map(({ id }) => id)
    this.#told = new Set(ids.filter((id) => this.#told.has(id)))
    if (this.#isRecording && ids.some((id) => !this.#told.has(id)))
      this.#telling ??= setTimeout(() => this.#tell(), tellEveryMs)
    this.#show()
  }

  #tell(): void {
    clearTimeout(this.#telling)
    this.#telling = undefined
    this.#told = new Set(this.#session.members.map(({ id }) => id))
    const recording = { session: this.#session.id, is: this.#isRecording }
    this.#session.say({ recording }).catch(sayWhatFailed)
  }

  #show(): void {
    const others = this.#session.members.filter(({ userId, catalogue }) =>
      this.#recording.has(keyOf(userId, catalogue.session)),
    )
    element('recorded', HTMLParagraphElement).textContent = noticeText(
      this.#isRecording,
      others.map(({ catalogue, userId }) => `${catalogue.name} (${userId.slice(0, 8)})`),
    )
  }
}

const keyOf = (userId: string, session: string): string => `${userId} ${session}`

/** Names can be chosen freely: those of others come with the beginning of their address. */
export function noticeText(isRecording: boolean, others: readonly string[]): string {
  const all = [...(isRecording ? ['You'] : []), ...others]
  if (all.length === 0) return ''
  const verb = isRecording || all.length > 1 ? 'are' : 'is'
  return `${new Intl.ListFormat('en').format(all)} ${verb} recording this room.`
}
