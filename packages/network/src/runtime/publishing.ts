import type { BuiltBatch, MessageChain } from '@runnel/protocol'
import type { NodeEvent } from '../core/events.ts'
import type { NodeCore } from '../core/node-core.ts'
import type { StreamPart } from '../core/stream-part/stream-part.ts'
import { networkError } from '../errors.ts'
import type { Tracer } from '../trace/tracer.ts'
import type { Listeners } from './listeners.ts'
import { dataPacket } from './node-packets.ts'
import type { PartNeighbours } from './part-neighbours.ts'

export interface PublishingModules {
  readonly core: Pick<NodeCore, 'streamParts' | 'counters'>
  readonly listeners: Listeners
  readonly neighbours: PartNeighbours
  readonly tracer: Tracer | undefined
  dispatch(event: NodeEvent): void
  /** Throws when the node does not run. */
  assertRunning(): void
}

/** Batches that the application gives to a stream part. Throws NODE_NOT_RUNNING, NOT_JOINED and STREAM_PART_FAILED. */
export class Publishing {
  readonly #modules: PublishingModules

  constructor(modules: PublishingModules) {
    this.#modules = modules
  }

  /** False when no neighbour takes more for now. */
  publish(batch: BuiltBatch): boolean {
    const { core, listeners, neighbours, tracer, dispatch } = this.#modules
    this.#modules.assertRunning()
    const before = this.#joined(batch.chain)
    const { packet } = batch
    tracer?.published(batch, packet)
    const { 'fault.streamPart': faults, 'urgent.overShare': overShare } = core.counters
    dispatch({ type: 'publish', batch, packet })
    const part = core.streamParts.ofChain(batch.chain)
    if (core.counters['urgent.overShare'] > overShare) listeners.emit('urgentOverShare', batch.chain)
    if (part !== before && core.counters['fault.streamPart'] > faults)
      throw networkError('STREAM_PART_FAILED', nameOf(batch.chain))
    return part === undefined || neighbours.isWritable(part.attached)
  }

  /** Like one from an archive it comes from no neighbour, and goes to all of them. */
  relay(batchBytes: Uint8Array): void {
    this.#modules.assertRunning()
    const { packet, batch } = dataPacket(batchBytes)
    this.#joined(batch.chain)
    this.#modules.dispatch({ type: 'archived', batch, packet })
  }

  #joined(chain: MessageChain): StreamPart {
    const part = this.#modules.core.streamParts.ofChain(chain)
    if (part === undefined) throw networkError('NOT_JOINED', nameOf(chain))
    return part
  }
}

const nameOf = ({ streamId, partition }: MessageChain): string => `${streamId}#${partition}`
