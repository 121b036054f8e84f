import type { TrackerLimits } from '../limits.ts'
import type { StreamPart } from './stream-part.ts'
import { IndexedSet } from './topology/indexed-set.ts'

/** Gradually improves overlays whose strategy can find better edges, in turn. */
export class Improver {
  readonly #limits: Pick<TrackerLimits, 'improvementIntervalMs' | 'improvementsPerInterval'>
  /** Stream parts whose strategy improves overlays. */
  readonly #parts = new IndexedSet<StreamPart>()
  #next = 0
  #dueMs = Infinity

  constructor(limits: Pick<TrackerLimits, 'improvementIntervalMs' | 'improvementsPerInterval'>) {
    this.#limits = limits
  }

  /** When the next turn is due; Infinity when there is nothing to improve. */
  get dueMs(): number {
    return this.#dueMs
  }

  /** The stream part is new, or its overlay was chosen anew. */
  plan(part: StreamPart, nowMs: number): void {
    if (!part.topology.improves) return this.#parts.delete(part)
    this.#parts.add(part)
    this.#dueMs = Math.min(this.#dueMs, nowMs + this.#limits.improvementIntervalMs)
  }

  delete(part: StreamPart): void {
    this.#parts.delete(part)
  }

  /**
   * Takes a turn if it is due. What is left waits for the next one. `work` is called with each stream part that gets a share of
   * it.
   */
  improve(nowMs: number, work: (part: StreamPart, improve: () => void) => void): void {
    if (this.#dueMs > nowMs) return
    const { improvementIntervalMs, improvementsPerInterval } = this.#limits
    this.#dueMs = this.#parts.size > 0 ? nowMs + improvementIntervalMs : Infinity
    let left = improvementsPerInterval
    for (let turns = this.#parts.size; turns > 0 && left > 0 && this.#parts.size > 0; turns--) {
      this.#next = (this.#next + 1) % this.#parts.size
      const part = this.#parts.at(this.#next)
      work(part, () => {
        const count = Math.min(left, part.improvementsDue)
        left -= count
        part.improve(count, nowMs)
      })
    }
  }
}
