import { parseStreamPartId, type MessageChain, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { StreamPart } from './stream-part.ts'

/** The joined stream parts, found by id, and by a message's chain without making a string of it. */
export class StreamPartMap {
  readonly #byId = new Map<StreamPartId, StreamPart>()
  readonly #byStream = new Map<StreamId, Map<number, StreamPart>>()

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
