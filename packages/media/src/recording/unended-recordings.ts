import type { Message } from '@runnel/client'
import { dropOldest } from '@runnel/protocol'
import { mediaLimits } from '../limits.ts'

/** The newest note of a recording; its recorder writes notes and frames into one chain. */
export interface NewestNote extends Pick<Message, 'publisherId' | 'messageChainId' | 'timestamp'> {
  readonly recording: string | undefined
}

/** Recordings of which no note says that it is the last: still under way, or their recorder vanished. */
export class UnendedRecordings {
  /** By recording, in the order of their newest notes. */
  readonly #notes = new Map<string | undefined, NewestNote>()

  /** Takes a note, each later than those before. */
  noted({ recording, publisherId, messageChainId, timestamp }: NewestNote, isLast: boolean): void {
    this.#notes.delete(recording)
    if (!isLast) this.#notes.set(recording, { recording, publisherId, messageChainId, timestamp })
    dropOldest(this.#notes, mediaLimits.maxUnendedRecordings)
  }

  /** The newest note of each, the newest of all first. */
  get notes(): readonly NewestNote[] {
    return [...this.#notes.values()].reverse()
  }
}
