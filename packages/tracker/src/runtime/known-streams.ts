import {
  Alarm,
  parseStreamPartId,
  type Clock,
  type OverlayChoice,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerCore } from '../core/tracker-core.ts'

/** What the registry says of a stream. */
export interface StreamFacts {
  /** The overlay that its owner has chosen; undefined for none. */
  readonly overlay: OverlayChoice | undefined
}

/** What the registry says of streams. */
export interface StreamSource {
  /** Undefined when there is no such stream. Rejects when there is no answer. */
  factsOf(streamId: StreamId): Promise<StreamFacts | undefined>
  /** Calls back with a stream that may have changed; without one, any may have. Returns a function that stops that. */
  onChange(listener: (streamId: StreamId | undefined) => void): () => void
}

export interface KnownStreamsModules {
  readonly core: TrackerCore
  readonly source: StreamSource
  readonly clock: Clock
  /** How long after it gave no answer the source is asked again, in milliseconds. */
  readonly retryMs: number
  chosen(streamId: StreamId, overlay: OverlayChoice | undefined): void
  /** There is no such stream. */
  missing(streamId: StreamId): void
  /** The stream may exist now, or no longer; any, when none is given. */
  changed(streamId: StreamId | undefined): void
}

/** Concurrent look-ups; further ones wait. */
const maxStreamLookups = 32

/**
 * Asks whether each stream exists and which overlay its owner wants, when its first node joins and when that may have changed.
 * Nothing waits for the answer: until it comes, or when there is none, the stream is assumed to exist, with the tracker's
 * default overlay.
 */
export class KnownStreams {
  readonly #modules: KnownStreamsModules
  /** Streams to look up: at most those the tracker serves. */
  readonly #waiting = new Set<StreamId>()
  readonly #asking = new Set<StreamId>()
  /** Streams of which there was no answer, until they are looked up again. */
  readonly #unanswered = new Set<StreamId>()
  readonly #retry: Alarm
  #unfollow = (): void => {}
  #running = false

  constructor(modules: KnownStreamsModules) {
    this.#modules = modules
    this.#retry = new Alarm({ onDue: () => this.#askAgain() }, modules)
  }

  /** Idempotent. */
  start(): void {
    if (this.#running) return
    this.#running = true
    const { core, source, changed: tell } = this.#modules
    core.onNewStreamPart = (id) => this.#look(streamOf(id))
    this.#unfollow = source.onChange((changed) => {
      for (const id of core.streamParts.keys())
        if (changed === undefined || streamOf(id) === changed) this.#look(streamOf(id))
      tell(changed)
    })
  }

  /** Idempotent. */
  stop(): void {
    this.#running = false
    this.#unfollow()
    this.#modules.core.onNewStreamPart = () => {}
    this.#waiting.clear()
    this.#unanswered.clear()
    this.#retry.set(Infinity)
  }

  #look(streamId: StreamId): void {
    this.#waiting.add(streamId)
    this.#askNext()
  }

  #askNext(): void {
    for (const streamId of this.#waiting) {
      if (this.#asking.size >= maxStreamLookups) return
      // A request that comes during the look-up causes another one afterwards.
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
      // A request that comes during the look-up may mean that the stream has changed.
      if (!this.#running || this.#waiting.has(streamId)) return
      if (facts === undefined) missing(streamId)
      else chosen(streamId, facts.overlay)
    } catch {
      // It stays as it is until then.
      core.counters.count('streamLookupsFailed')
      if (this.#running) this.#askLater(streamId)
    } finally {
      this.#asked(streamId)
    }
  }

  #askLater(streamId: StreamId): void {
    const { clock, retryMs } = this.#modules
    this.#unanswered.add(streamId)
    if (this.#retry.dueMs === Infinity) this.#retry.set(clock.monotonicMs() + retryMs)
  }

  /** Those that are still served. */
  #askAgain(): void {
    for (const id of this.#modules.core.streamParts.keys())
      if (this.#unanswered.delete(streamOf(id))) this.#look(streamOf(id))
    this.#unanswered.clear()
  }

  #asked(streamId: StreamId): void {
    this.#asking.delete(streamId)
    if (this.#running) this.#askNext()
  }
}

function streamOf(id: StreamPartId): StreamId {
  return parseStreamPartId(id).streamId
}
