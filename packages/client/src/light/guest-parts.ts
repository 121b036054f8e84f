import type { NetworkNode } from '@runnel/network'
import { keyPartition, parseStreamPartId, type StreamPartId } from '@runnel/protocol'
import { reasonOf } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { StreamParts } from '../stream-parts.ts'

export interface GuestPartsModules {
  readonly node: Pick<NetworkNode, 'on'>
  readonly cache: Pick<RegistryCache, 'getStream'>
  readonly parts: Pick<StreamParts, 'join'>
  readonly logger: Logger
}

/** Joins the stream parts that the guests of this node want and it is not in, for as long as they do. */
export class GuestParts {
  readonly #modules: GuestPartsModules
  /** How to give up each; undefined while its stream is looked up. */
  readonly #joined = new Map<StreamPartId, (() => void) | undefined>()

  constructor(modules: GuestPartsModules) {
    this.#modules = modules
  }

  start(): void {
    this.#modules.node.on('guestPart', (streamPartId, isWanted) => {
      if (isWanted) void this.#join(streamPartId)
      else this.#leave(streamPartId)
    })
  }

  /** Where that fails the guests are told that the stream part is not joined, and come again. */
  async #join(streamPartId: StreamPartId): Promise<void> {
    if (this.#joined.has(streamPartId)) return
    this.#joined.set(streamPartId, undefined)
    const { cache, parts, logger } = this.#modules
    const { streamId, partition } = parseStreamPartId(streamPartId)
    try {
      const stream = await cache.getStream(streamId)
      if (!this.#joined.has(streamPartId)) return
      if (stream === undefined || (partition >= stream.partitions && partition !== keyPartition))
        return void this.#joined.delete(streamPartId)
      this.#joined.set(streamPartId, parts.join(stream, partition))
    } catch (error) {
      this.#joined.delete(streamPartId)
      logger.warn({ streamPartId, reason: reasonOf(error) }, 'a stream part of guests is not joined')
    }
  }

  #leave(streamPartId: StreamPartId): void {
    this.#joined.get(streamPartId)?.()
    this.#joined.delete(streamPartId)
  }
}
