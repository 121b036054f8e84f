import {
  FaultBoundary,
  parseStreamPartId,
  type MessageChain,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { StreamPart } from './stream-part.ts'

export interface StreamPartMapModules {
  /** Called with what the work of a stream part threw. */
  onFault(part: StreamPart, error: unknown): void
}

/**
 * The joined stream parts, found by id, or by a message's chain without building a string. All work of a stream part runs
 * inside `within`: a fault in one ends there, and the others go on.
 */
export class StreamPartMap {
  readonly #boundary: FaultBoundary<StreamPart>
  readonly #byId = new Map<StreamPartId, StreamPart>()
  readonly #byStream = new Map<StreamId, Map<number, StreamPart>>()

  constructor(modules: StreamPartMapModules) {
    this.#boundary = new FaultBoundary((part, error) => modules.onFault(part, error))
  }

  get size(): number {
    return this.#byId.size
  }

  get ids(): StreamPartId[] {
    return [...this.#byId.keys()]
  }

  [Symbol.iterator](): IterableIterator<StreamPart> {
    return this.#byId.values()
  }

  get(id: StreamPartId): StreamPart | undefined {
    return this.#byId.get(id)
  }

  ofChain(chain: MessageChain): StreamPart | undefined {
    return this.#byStream.get(chain.streamId)?.get(chain.partition)
  }

  /**
   * Does some work of a stream part. What it throws goes to `onFault` and no further, and undefined is returned; within other
   * work of the same stream part it ends that as well.
   */
  within<T>(part: StreamPart, work: () => T): T | undefined {
    return this.#boundary.within(part, work)
  }

  /** Does some work of a stream part if it is joined. */
  withPart(id: StreamPartId, work: (part: StreamPart) => void): void {
    const part = this.get(id)
    if (part !== undefined) this.within(part, () => work(part))
  }

  /** Does some work of the stream part of a chain if it is joined. */
  withPartOf(chain: MessageChain, work: (part: StreamPart) => void): void {
    const part = this.ofChain(chain)
    if (part !== undefined) this.within(part, () => work(part))
  }

  /**
   * Does some work of each stream part that is there now. What the current one throws ends its work once the others' is
   * done.
   */
  each(work: (part: StreamPart) => void): void {
    let thrown: { readonly error: unknown } | undefined
    for (const part of [...this.#byId.values()]) {
      if (this.#byId.get(part.id) !== part) continue
      try {
        this.within(part, () => work(part))
      } catch (error) {
        thrown = { error }
      }
    }
    if (thrown !== undefined) throw thrown.error
  }

  add(part: StreamPart): void {
    const { streamId, partition } = parseStreamPartId(part.id)
    this.#byId.set(part.id, part)
    const partitions = this.#byStream.get(streamId) ?? new Map<number, StreamPart>()
    partitions.set(partition, part)
    this.#byStream.set(streamId, partitions)
  }

  delete(id: StreamPartId): void {
    const { streamId, partition } = parseStreamPartId(id)
    this.#byId.delete(id)
    const partitions = this.#byStream.get(streamId)
    partitions?.delete(partition)
    if (partitions?.size === 0) this.#byStream.delete(streamId)
  }
}
