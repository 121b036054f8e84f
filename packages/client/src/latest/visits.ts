import { toStreamPartId, type Cancel, type Clock, type StreamPartId } from '@runnel/protocol'
import type { StreamInfo } from '../registry/ports.ts'
import type { StreamParts } from '../stream-parts.ts'

interface Visit {
  readonly leave: () => void
  users: number
  cancel: Cancel
}

/** Stream parts that are joined to ask for last values, and left a while after the last question. */
export class Visits {
  readonly #lingerMs: number
  readonly #modules: { readonly parts: Pick<StreamParts, 'join'>; readonly clock: Clock }
  readonly #visits = new Map<StreamPartId, Visit>()

  constructor(
    limits: { readonly lingerMs: number },
    modules: { readonly parts: Pick<StreamParts, 'join'>; readonly clock: Clock },
  ) {
    this.#lingerMs = limits.lingerMs
    this.#modules = modules
  }

  /** Joins, unless it still is in it. The function it returns ends the use; it is called once, also after `close`. */
  enter(stream: StreamInfo, partition: number): () => void {
    const { parts, clock } = this.#modules
    const streamPartId = toStreamPartId(stream.id, partition)
    const known = this.#visits.get(streamPartId)
    const visit = known ?? {
      leave: parts.join(stream, partition, { fillGaps: false }),
      users: 0,
      cancel: () => {},
    }
    visit.cancel()
    visit.users++
    this.#visits.set(streamPartId, visit)
    return () => {
      if (--visit.users > 0 || this.#visits.get(streamPartId) !== visit) return
      visit.cancel = clock.schedule(this.#lingerMs, () => {
        this.#visits.delete(streamPartId)
        visit.leave()
      })
    }
  }

  /** Waits for nothing any more. */
  close(): void {
    for (const { cancel, leave } of this.#visits.values()) {
      cancel()
      leave()
    }
    this.#visits.clear()
  }
}
