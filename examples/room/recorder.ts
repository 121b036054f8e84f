import type { RunnelClient } from '@runnel/client/browser'
import { recordSession, type SessionRecorder } from '@runnel/media/page'
import { element, say } from '../shared/page.ts'
import { whileBusy } from './busy-button.ts'
import { clockText } from './clock-text.ts'
import { playbackLink, type OwnRecording } from './own-recording.ts'
import { rememberTab, type ThisTab } from './this-tab.ts'

/** A page that is killed says nothing: its recording ended within this time after it last said that it goes on, and has its end in what is stored. */
const endsWithinMs = 4_000

/** The button that records the room. Who has the link of the room and of its recording can play it. */
export class RoomRecorder {
  readonly #client: RunnelClient
  readonly #from: string
  readonly #to: string
  readonly #tab: ThisTab
  #recorder: SessionRecorder | undefined
  /** As it was when the room was joined: before a page goes to another room its address is that one's. */
  readonly #room = roomAddress()
  #startedMs = 0

  constructor(client: RunnelClient, from: string, to: string, tab: ThisTab) {
    this.#client = client
    this.#from = from
    this.#to = to
    this.#tab = tab
    addEventListener('pagehide', () => {
      if (this.isRecording) this.#remember(Date.now(), false)
    })
  }

  get isRecording(): boolean {
    return this.#recorder !== undefined
  }

  toggle(): Promise<void> {
    const button = element('record', HTMLButtonElement)
    return whileBusy(button, async () => {
      try {
        if (this.#recorder === undefined) await this.#start()
        else await this.stop()
      } finally {
        button.ariaPressed = String(this.isRecording)
        this.update()
      }
    })
  }

  /** Says for how long it records; called every second. */
  update(): void {
    if (this.isRecording) this.#remember(Date.now() + endsWithinMs, false)
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
    showLink(this.#remember(Date.now(), true))
    const { failed } = recorder.counters
    say(failed === 0 ? 'Recorded. Use the link to play it.' : `Recorded, except for ${failed} frames.`)
  }

  /** Shows where the recording is that an earlier page of this tab made of this room. Returns what there is to say of it. */
  showEarlier(): string {
    const { recording } = this.#tab
    if (recording?.room !== this.#room) return ''
    // It ended before this page, which may record the next one.
    showLink({ ...recording, toMs: Math.min(recording.toMs, Date.now()) })
    return recording.isStopped
      ? ''
      : 'The recording ended when this page was closed or loaded again. Use the link to play it.'
  }

  async #start(): Promise<void> {
    this.#startedMs = Date.now()
    const onFault = (error: unknown): void => say(`The recording has a gap: ${String(error)}`)
    this.#recorder = await recordSession(this.#from, this.#to, { onFault }, { client: this.#client })
    say('Recording. All who are here, or come later, are told.')
  }

  /** For this tab's next page: where this one ends first, nobody else knows where the recording is. */
  #remember(toMs: number, isStopped: boolean): OwnRecording {
    const recording = { room: this.#room, fromMs: this.#startedMs, toMs, isStopped }
    rememberTab({ ...this.#tab, recording })
    return recording
  }
}

function roomAddress(): string {
  return location.search + location.hash
}

function showLink(recording: OwnRecording): void {
  const link = element('recording', HTMLAnchorElement)
  link.href = playbackLink(recording)
  link.hidden = false
}
