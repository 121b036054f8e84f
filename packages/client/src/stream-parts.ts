import type { JoinOptions, NetworkNode } from '@runnel/network'
import { toStreamPartId, type NodeId, type StreamId, type StreamPartId } from '@runnel/protocol'
import type { RegistryService } from './registry/registry-service.ts'
import type { StreamInfo } from './registry/ports.ts'

/** The stream parts the node is in, counted: each is left when the last one who wanted it is gone. */
export class StreamParts {
  readonly #node: NetworkNode
  readonly #registry: Pick<RegistryService, 'use' | 'release'>
  readonly #uses = new Map<StreamPartId, number>()
  readonly #usesOfStream = new Map<StreamId, number>()
  /** Of those, the uses that want gaps filled. */
  readonly #fillers = new Map<StreamPartId, number>()
  readonly #neighbours = new Map<StreamPartId, number>()

  constructor(modules: { node: NetworkNode; registry: Pick<RegistryService, 'use' | 'release'> }) {
    this.#node = modules.node
    this.#registry = modules.registry
  }

  /** Joins, unless already in; gaps are filled while anybody wants it. The function it returns gives up this use; it is idempotent. */
  join(stream: StreamInfo, partition: number, { fillGaps = true }: JoinOptions = {}): () => void {
    const streamPartId = toStreamPartId(stream.id, partition)
    const uses = this.#uses.get(streamPartId) ?? 0
    const release = this.use(stream)
    const fillers = this.#fillers.get(streamPartId) ?? 0
    if (fillGaps) this.#fillers.set(streamPartId, fillers + 1)
    if (uses === 0 || (fillGaps && fillers === 0)) this.#node.join(streamPartId, { fillGaps })
    this.#uses.set(streamPartId, uses + 1)
    return once(() => {
      this.#leave(streamPartId, fillGaps)
      release()
    })
  }

  /** Follows the stream's own trackers, without joining. The function it returns gives up this use; it is idempotent. */
  use(stream: StreamInfo): () => void {
    const before = this.#usesOfStream.get(stream.id) ?? 0
    if (before === 0) this.#registry.use(stream)
    this.#usesOfStream.set(stream.id, before + 1)
    return once(() => {
      const uses = (this.#usesOfStream.get(stream.id) ?? 1) - 1
      if (uses > 0) {
        this.#usesOfStream.set(stream.id, uses)
        return
      }
      this.#usesOfStream.delete(stream.id)
      this.#registry.release(stream.id)
    })
  }

  /** To be told of every change the node reports. */
  neighboursChanged(streamPartId: StreamPartId, neighbours: readonly NodeId[]): void {
    if (neighbours.length > 0) this.#neighbours.set(streamPartId, neighbours.length)
    else this.#neighbours.delete(streamPartId)
  }

  neighbourCount(streamPartId: StreamPartId): number {
    return this.#neighbours.get(streamPartId) ?? 0
  }

  #leave(streamPartId: StreamPartId, isFiller: boolean): void {
    const uses = (this.#uses.get(streamPartId) ?? 1) - 1
    const fillers = (this.#fillers.get(streamPartId) ?? 0) - (isFiller ? 1 : 0)
    this.#fillers.set(streamPartId, fillers)
    if (uses > 0) {
      this.#uses.set(streamPartId, uses)
      if (isFiller && fillers === 0) this.#node.join(streamPartId, { fillGaps: false })
      return
    }
    this.#fillers.delete(streamPartId)
    this.#uses.delete(streamPartId)
    this.#neighbours.delete(streamPartId)
    this.#node.leave(streamPartId)
  }
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
