import type { RunnelClient } from '@runnel/client/browser'
import { recordSession, type SessionRecorder } from '@runnel/media/page'
import { element, say } from '../shared/page.ts'
import { clockText } from './clock-text.ts'

/** The button that records the room. Who has the link of the room and of its recording can play it. */
export class RoomRecorder {
  readonly #client: RunnelClient
  readonly #from: string
  readonly #to: string
  #recorder: SessionRecorder | undefined
  #startedMs = 0

  constructor(client: RunnelClient, from: string, to: string) {
    this.#client = client
    this.#from = from
    this.#to = to
  }

  get isRecording(): boolean {
    return this.#recorder !== undefined
  }

  async toggle(): Promise<void> {
    const button = element('record', HTMLButtonElement)
    button.disabled = true
    try {
      if (this.#recorder === undefined) await this.#start()
      else await this.stop()
    } finally {
      button.disabled = false
      button.ariaPressed = String(this.isRecording)
      this.update()
    }
  }

  /** Says for how long it records. */
  update(): void {
    const seconds = (Date.now() - this.#startedMs) / 1_000
    element('record', HTMLButtonElement).textContent = this.isRecording
      ? `Recording ${clockText(seconds)}`
      : 'Record'
  }

  /** Shows where the recording is. Idempotent. */
  async stop(): Promise<void> {
    const recorder = this.#recorder
    this.#recorder = undefined
    if (recorder === undefined) return
    await recorder.stop()
    const query = new URLSearchParams(location.search)
    query.set('from', String(this.#startedMs))
    query.set('to', String(Date.now()))
    const link = element('recording', HTMLAnchorElement)
    // With the secret of the room, which its frames are sealed with.
    link.href = `playback.html?${query.toString()}${location.hash}`
    link.hidden = false
    const { failed } = recorder.counters
    say(failed === 0 ? 'Recorded. Use the link to play it.' : `Recorded, except for ${failed} frames.`)
  }

  async #start(): Promise<void> {
    this.#startedMs = Date.now()
    const onFault = (error: unknown): void => say(`The recording has a gap: ${String(error)}`)
    this.#recorder = await recordSession(this.#from, this.#to, { onFault }, { client: this.#client })
    say('Recording. All who are here, or come later, are told.')
  }
}
