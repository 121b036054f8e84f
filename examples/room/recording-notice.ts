import type { MediaSession } from '@runnel/media/page'
import { element, sayWhatFailed } from '../shared/page.ts'

/** Says in each page who records the room, also to those who come in meanwhile. */
export class RecordingNotice {
  readonly #session: MediaSession
  readonly #name: string
  /** Names of those who record, by their address. */
  readonly #names = new Map<string, string>()
  #isRecording = false
  #told: ReadonlySet<string> = new Set()

  constructor(session: MediaSession, name: string) {
    this.#session = session
    this.#name = name
  }

  start(): void {
    this.#session.on('message', ({ content, publisherId }) => {
      const { recording } = (content ?? {}) as {
        readonly recording?: { readonly name?: unknown; readonly is?: unknown }
      }
      if (typeof recording?.name !== 'string') return
      if (recording.is === true) this.#names.set(publisherId, recording.name.slice(0, 40))
      else this.#names.delete(publisherId)
      this.#show()
    })
    this.#session.on('left', ({ userId }) => {
      this.#names.delete(userId)
      this.#show()
    })
    this.#session.on('members', () => {
      const isNew = this.#session.members.some(({ id }) => !this.#told.has(id))
      if (this.#isRecording && isNew) this.#tell()
    })
    this.#show()
  }

  /** This page records from now on, or no longer. */
  changed(isRecording: boolean): void {
    this.#isRecording = isRecording
    this.#tell()
  }

  #tell(): void {
    this.#told = new Set(this.#session.members.map(({ id }) => id))
    const recording = { name: this.#name, is: this.#isRecording }
    this.#session.say({ recording }).catch(sayWhatFailed)
  }

  #show(): void {
    const names = [...this.#names.values()]
    element('recorded', HTMLParagraphElement).textContent =
      names.length === 0
        ? ''
        : `${new Intl.ListFormat('en').format(names)} ${names.length > 1 ? 'are' : 'is'} recording this room.`
  }
}
