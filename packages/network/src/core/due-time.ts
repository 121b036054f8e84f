import type { StreamPart } from './stream-part/stream-part.ts'
import type { StreamPartMap } from './stream-part/stream-part-map.ts'

interface Due {
  readonly dueMs: number
}

export interface DueTimeModules {
  readonly parts: StreamPartMap
  readonly neighbourhood: Due
  readonly flood: Due
  readonly thinning: Due
  readonly urgent: Due
  readonly urgentThinning: Due
  readonly guests: Due | undefined
  readonly watch: Due | undefined
}

/**
 * When the next `tick` is due, by the monotonic clock; Infinity for never. After most events it is looked for in everything. Frequent
 * ones bring it forward to what they may have made due: a look at all stream parts would cost more than their work.
 */
export class DueTime {
  readonly #modules: DueTimeModules
  #ms = Infinity

  constructor(modules: DueTimeModules) {
    this.#modules = modules
  }

  get ms(): number {
    return this.#ms
  }

  /** Looks for it in everything. */
  update(): void {
    const { parts, neighbourhood, flood, thinning, urgent, urgentThinning, guests, watch } = this.#modules
    let dueMs = Math.min(neighbourhood.dueMs, flood.dueMs, thinning.dueMs)
    dueMs = Math.min(dueMs, urgent.dueMs, urgentThinning.dueMs)
    dueMs = Math.min(dueMs, guests?.dueMs ?? Infinity, watch?.dueMs ?? Infinity)
    parts.each((part) => {
      const partDueMs = part.dueMs
      if (Number.isNaN(partDueMs)) throw new Error('a due time is NaN')
      dueMs = Math.min(dueMs, partDueMs)
    })
    for (const { faults } of parts) dueMs = Math.min(dueMs, faults.restsUntilMs)
    this.#ms = dueMs
  }

  /** A batch was received. */
  afterData({ recent, gaps }: StreamPart): void {
    const { thinning, watch } = this.#modules
    this.#ms = Math.min(this.#ms, recent.dueMs, gaps.dueMs)
    this.#ms = Math.min(this.#ms, thinning.dueMs, watch?.dueMs ?? Infinity)
  }

  /** An urgent message was received. */
  afterUrgent(): void {
    this.#ms = Math.min(this.#ms, this.#modules.urgent.dueMs, this.#modules.urgentThinning.dueMs)
  }

  /** A status was taken: all stream parts may have one due at once. */
  afterStatus(part: StreamPart): void {
    this.#ms = Math.min(this.#ms, part.dueMs, this.#modules.neighbourhood.dueMs)
  }
}
