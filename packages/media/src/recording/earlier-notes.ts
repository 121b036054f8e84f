import { mediaLimits } from '../limits.ts'
import type { RecordingNote } from './recording-note.ts'

/** A note, and when it was written, in Unix milliseconds. */
export interface DatedNote {
  readonly note: RecordingNote
  readonly atMs: number
}

/** Notes from before the time that is opened: they count once their recording turns out to go on into that time. */
export class EarlierNotes {
  #kept: { readonly recording: string; readonly dated: DatedNote }[] = []

  /** Not of an unknown recording. */
  keep(recording: string | undefined, dated: DatedNote): void {
    if (recording === undefined) return
    this.#kept.push({ recording, dated })
    if (this.#kept.length > mediaLimits.maxEarlierNotes) this.#kept.shift()
  }

  /** Takes those of a recording, in the order in which they came. */
  take(recording: string | undefined): readonly DatedNote[] {
    const taken = this.#kept.filter((one) => one.recording === recording)
    if (taken.length > 0) this.#kept = this.#kept.filter((one) => one.recording !== recording)
    return taken.map(({ dated }) => dated)
  }
}
