import type { NetworkNode } from '@runnel/network'
import { toStreamPartId, type NodeId, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { RegistryService } from './registry/registry-service.ts'
import type { StreamInfo } from './registry/ports.ts'

/** The stream parts the node is in, counted: each is left when the last one who wanted it is gone. */
export class StreamParts {
  readonly #node: NetworkNode
  readonly #registry: Pick<RegistryService, 'use' | 'release'>
  readonly #uses = new Map<StreamPartId, number>()
  readonly #partsOfStream = new Map<StreamId, number>()
  readonly #neighbours = new Map<StreamPartId, number>()

  constructor(modules: { node: NetworkNode; registry: Pick<RegistryService, 'use' | 'release'> }) {
    this.#node = modules.node
    this.#registry = modules.registry
  }

  /** Joins, unless already in. The function it returns gives up this use; it is idempotent. */
  join(stream: StreamInfo, partition: number): () => void {
    const streamPartId = toStreamPartId(stream.id, partition)
    const uses = this.#uses.get(streamPartId) ?? 0
    if (uses === 0) {
      this.#registry.use(stream)
      this.#node.join(streamPartId)
      this.#partsOfStream.set(stream.id, (this.#partsOfStream.get(stream.id) ?? 0) + 1)
    }
    this.#uses.set(streamPartId, uses + 1)
    let released = false
    return () => {
      if (released) return
      released = true
      this.#release(stream.id, streamPartId)
    }
  }

  /** To be told of every change the node reports. */
  neighboursChanged(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void {
    if (neighbours.length > 0) this.#neighbours.set(streamPartId, neighbours.length)
    else this.#neighbours.delete(streamPartId)
  }

  neighbourCount(streamPartId: StreamPartId): number {
    return this.#neighbours.get(streamPartId) ?? 0
  }

  #release(streamId: StreamId, streamPartId: StreamPartId): void {
    const uses = (this.#uses.get(streamPartId) ?? 1) - 1
    if (uses > 0) {
      this.#uses.set(streamPartId, uses)
      return
    }
    this.#uses.delete(streamPartId)
    this.#neighbours.delete(streamPartId)
    this.#node.leave(streamPartId)
    const parts = (this.#partsOfStream.get(streamId) ?? 1) - 1
    if (parts > 0) {
      this.#partsOfStream.set(streamId, parts)
      return
    }
    this.#partsOfStream.delete(streamId)
    this.#registry.release(streamId)
  }
}
