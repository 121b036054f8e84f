import { parseStreamPartId, type OverlayChoice, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { TrackerCore } from '../core/tracker-core.ts'

/** What the registry says of a stream. */
export interface StreamFacts {
  /** What its owner has chosen; undefined when that is nothing. */
  readonly overlay: OverlayChoice | undefined
}

/** What the registry says of streams. */
export interface StreamSource {
  /** Undefined when there is no such stream. Rejects when nobody can say. */
  factsOf(streamId: StreamId): Promise<StreamFacts | undefined>
  /** Calls back with a stream of which that may be another; with none, that may be any. Returns what ends that. */
  onChange(listener: (streamId: StreamId | undefined) => void): () => void
}

export interface KnownStreamsModules {
  readonly core: TrackerCore
  readonly source: StreamSource
  chosen(streamId: StreamId, overlay: OverlayChoice | undefined): void
  /** There is no such stream. */
  missing(streamId: StreamId): void
  /** Whether there is such a stream may be another matter than before; of any, when none is given. */
  changed(streamId: StreamId | undefined): void
}

/** Look-ups under way at once; further ones wait. */
const maxStreamLookups = 32

/**
 * Asks whether each stream exists and what overlay its owner wants, when its first node comes and when that may have changed.
 * Nobody waits for the answer: until it is there, and when nobody can say, the stream is taken to exist, and the overlay is what
 * the tracker makes of streams without a choice.
 */
export class KnownStreams {
  readonly #modules: KnownStreamsModules
  /** To be looked up: at most the streams the tracker serves. */
  readonly #waiting = new Set<StreamId>()
  readonly #asking = new Set<StreamId>()
  #unfollow = (): void => {}
  #running = false

  constructor(modules: KnownStreamsModules) {
    this.#modules = modules
  }

  /** Idempotent. */
  start(): void {
    if (this.#running) return
    this.#running = true
    const { core, source, changed: tell } = this.#modules
    core.onNewStreamPart = (id) => this.#look(streamOf(id))
    this.#unfollow = source.onChange((changed) => {
      tell(changed)
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
      if (this.#asking.size >= maxStreamLookups) return
      // What comes while it is asked for is asked for once more, after.
      if (this.#asking.has(streamId)) continue
      this.#waiting.delete(streamId)
      void this.#ask(streamId)
    }
  }

  async #ask(streamId: StreamId): Promise<void> {
    const { core, source, chosen, missing } = this.#modules
    this.#asking.add(streamId)
    try {
      const facts = await source.factsOf(streamId)
      // What comes while it is asked for may have made it another stream.
      if (!this.#running || this.#waiting.has(streamId)) return
      if (facts === undefined) missing(streamId)
      else chosen(streamId, facts.overlay)
    } catch {
      // It stays as it is until the source says that something has changed.
      core.counters.count('streamLookupsFailed')
    } finally {
      this.#asked(streamId)
    }
  }

  #asked(streamId: StreamId): void {
    this.#asking.delete(streamId)
    if (this.#running) this.#askNext()
  }
}

function streamOf(id: StreamPartId): StreamId {
  return parseStreamPartId(id).streamId
}
