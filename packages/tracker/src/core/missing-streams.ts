import type { StreamId } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'

/** Streams that the registry did not have a while ago, so that it is not asked again for every join. */
export class MissingStreams {
  readonly #limits: Pick<TrackerLimits, 'missingStreamMs' | 'maxMissingStreams'>
  /** Until when each is remembered; the oldest first. */
  readonly #until = new Map<StreamId, number>()

  constructor(limits: Pick<TrackerLimits, 'missingStreamMs' | 'maxMissingStreams'>) {
    this.#limits = limits
  }

  has(streamId: StreamId, now: number): boolean {
    return now < (this.#until.get(streamId) ?? -Infinity)
  }

  add(streamId: StreamId, now: number): void {
    this.#until.delete(streamId)
    this.#until.set(streamId, now + this.#limits.missingStreamMs)
    for (const oldest of this.#until.keys()) {
      if (this.#until.size <= this.#limits.maxMissingStreams) break
      this.#until.delete(oldest)
    }
  }

  /** Forgets one, or all. */
  forget(streamId: StreamId | undefined): void {
    if (streamId === undefined) this.#until.clear()
    else this.#until.delete(streamId)
  }
}
