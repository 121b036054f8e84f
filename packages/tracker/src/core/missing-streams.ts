import type { StreamId } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import type { TrackerLimits } from '../limits.ts'

/** Streams that the registry did not have a while ago, so that it is not asked again for every join. */
export class MissingStreams {
  readonly #rememberedMs: number
  readonly #untilMs: LRU<number>

  constructor(limits: Pick<TrackerLimits, 'missingStreamMs' | 'maxMissingStreams'>) {
    this.#rememberedMs = limits.missingStreamMs
    this.#untilMs = new LRU(limits.maxMissingStreams)
  }

  has(streamId: StreamId, nowMs: number): boolean {
    return nowMs < (this.#untilMs.peek(streamId) ?? -Infinity)
  }

  add(streamId: StreamId, nowMs: number): void {
    this.#untilMs.set(streamId, nowMs + this.#rememberedMs)
  }

  /** Forgets one, or all. */
  forget(streamId: StreamId | undefined): void {
    if (streamId === undefined) this.#untilMs.clear()
    else this.#untilMs.delete(streamId)
  }
}
