import { parseStreamPartId, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { TrackerCore } from '../core/tracker-core.ts'
import type { OverlayPolicy } from '../core/stream-part.ts'

/** What the owners of streams have chosen. */
export interface StreamOverlaySource {
  /** Undefined when the owner has not chosen, or there is no such stream. Rejects when nobody can say. */
  overlayOf(streamId: StreamId): Promise<OverlayPolicy | undefined>
  /** Calls back with a stream whose owner may have chosen anew; with none, that may be any. Returns what ends that. */
  onChange(listener: (streamId: StreamId | undefined) => void): () => void
}

export interface StreamOverlaysModules {
  readonly core: TrackerCore
  readonly source: StreamOverlaySource
  chosen(streamId: StreamId, overlay: OverlayPolicy | undefined): void
}

/** Look-ups under way at once; further ones wait. */
const maxOverlayLookups = 32

/**
 * Asks what overlay the owner of each stream wants, when its first node comes and when that may have changed. Nobody
 * waits for the answer: until it is there, the overlay is what the tracker makes of streams without a choice.
 */
export class StreamOverlays {
  readonly #modules: StreamOverlaysModules
  /** To be looked up: at most the streams the tracker serves. */
  readonly #waiting = new Set<StreamId>()
  readonly #asking = new Set<StreamId>()
  #unfollow = (): void => {}
  #running = false

  constructor(modules: StreamOverlaysModules) {
    this.#modules = modules
  }

  /** Idempotent. */
  start(): void {
    if (this.#running) return
    this.#running = true
    const { core, source } = this.#modules
    core.onNewStreamPart = (id) => this.#look(streamOf(id))
    this.#unfollow = source.onChange((changed) => {
      for (const id of core.streamParts.keys())
        if (changed === undefined || streamOf(id) === changed) this.#look(streamOf(id))
    })
  }

  /** Idempotent. */
  stop(): void {
    this.#running = false
    this.#unfollow()
    this.#modules.core.onNewStreamPart = () => {}
    this.#waiting.clear()
  }

  #look(streamId: StreamId): void {
    this.#waiting.add(streamId)
    this.#askNext()
  }

  #askNext(): void {
    for (const streamId of this.#waiting) {
      if (this.#asking.size >= maxOverlayLookups) return
      // What comes while it is asked for is asked for once more, after.
      if (this.#asking.has(streamId)) continue
      this.#waiting.delete(streamId)
      void this.#ask(streamId)
    }
  }

  async #ask(streamId: StreamId): Promise<void> {
    const { core, source, chosen } = this.#modules
    this.#asking.add(streamId)
    try {
      const overlay = await source.overlayOf(streamId)
      if (this.#running) chosen(streamId, overlay)
    } catch {
      // It stays as it is until the source says that something has changed.
      core.counters.count('overlayLookupsFailed')
    }
    this.#asking.delete(streamId)
    if (this.#running) this.#askNext()
  }
}

function streamOf(id: StreamPartId): StreamId {
  return parseStreamPartId(id).streamId
}
