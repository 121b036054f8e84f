import type { RecordingNote } from './recording-note.ts'

/** Notes of ten recorders in the time that is looked back: whoever may publish can invent others. */
const maxKept = 100

/** A note, and when it was written, in Unix milliseconds. */
export interface DatedNote {
  readonly note: RecordingNote
  readonly atMs: number
}

/** Notes from before the time that is opened: they count once their recording turns out to go on into that time. */
export class EarlierNotes {
  #kept: { readonly recording: string; readonly dated: DatedNote }[] = []

  /** Beyond 100, the oldest are dropped. Those of no known recording are not kept. */
  keep(recording: string | undefined, dated: DatedNote): void {
    if (recording === undefined) return
    this.#kept.push({ recording, dated })
    if (this.#kept.length > maxKept) this.#kept.shift()
  }

  /** Takes those of a recording, in the order in which they came. */
  take(recording: string | undefined): readonly DatedNote[] {
    const taken = this.#kept.filter((one) => one.recording === recording)
    if (taken.length > 0) this.#kept = this.#kept.filter((one) => one.recording !== recording)
    return taken.map(({ dated }) => dated)
  }
}
