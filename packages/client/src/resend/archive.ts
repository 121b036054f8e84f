import type { Archive, Gap, NetworkNode } from '@runnel/network'
import { isRunnelError, type StreamMessage, type WantedNeighbour } from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { asError, clientError } from '../errors.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { StatusHub } from '../status.ts'
import { FoundChain } from './found-chain.ts'
import type { HistorySource } from './history-source.ts'
import { Slots } from './slots.ts'
import { StorageSource } from './storage-source.ts'

export interface ArchiveModules {
  readonly history: HistorySource
  readonly cache: RegistryCache
  readonly status: StatusHub
  readonly node: NetworkNode
}

/** How long a storage node that refused to send a stream to this user is not asked for its gaps. */
const deniedMs = 60_000
/** Streams for which such a refusal is remembered. */
const maxDenied = 1_000

/**
 * Fills gaps of the node from storage nodes: one after the other, until one has sent the whole gap. The node checks their batches
 * like those of neighbours.
 */
export class StorageArchive implements Archive {
  readonly #modules: ArchiveModules
  readonly #slots: Slots
  readonly #deniedUntilMs = new LRU<number>(maxDenied)
  readonly #counters = { archiveFills: 0, archiveFilled: 0, archiveRefused: 0, archiveBatches: 0 }

  constructor(modules: ArchiveModules) {
    this.#modules = modules
    this.#slots = new Slots(modules.history.limits.maxArchiveFills)
  }

  /** Gaps accepted, filled, and refused because there were too many; batches found. */
  counters(): Readonly<Record<string, number>> {
    return { ...this.#counters }
  }

  async fill(gap: Gap, give: (batchBytes: Uint8Array) => void, signal: AbortSignal): Promise<void> {
    const { limits, closing } = this.#modules.history
    const ending = AbortSignal.any([signal, closing])
    if (this.#slots.waiting >= limits.maxArchiveWaiting) {
      this.#counters.archiveRefused++
      return
    }
    const leave = await this.#slots.take(ending)
    if (leave === undefined) return
    try {
      await this.#fillNow(gap, give, ending)
    } catch (error) {
      // The registry does not answer; the gap counts as not stored.
      if (!isRunnelError(error)) throw error
    } finally {
      leave()
    }
  }

  async #fillNow(gap: Gap, give: (batchBytes: Uint8Array) => void, signal: AbortSignal): Promise<void> {
    const { history, cache } = this.#modules
    const { streamId, partition } = gap.chain
    const stream = await cache.getStream(streamId)
    if (stream === undefined) return
    const storageNodes = await history.directory.storageNodes(stream, partition, signal)
    if (storageNodes.length > 0) this.#counters.archiveFills++
    const found = new FoundChain(gap)
    for (const peer of storageNodes) {
      if (signal.aborted || this.#isDenied(gap, peer)) continue
      await this.#ask(peer, gap, signal, (bytes, messages) => {
        this.#counters.archiveBatches++
        found.add(messages)
        give(bytes)
      })
      if (found.isWhole) {
        this.#counters.archiveFilled++
        return
      }
    }
  }

  async #ask(
    peer: WantedNeighbour,
    { streamPartId, chain, after, upTo }: Gap,
    signal: AbortSignal,
    onBatch: (bytes: Uint8Array, messages: readonly StreamMessage[]) => void,
  ): Promise<void> {
    const { limits, sourceModules, check } = this.#modules.history
    const { publisherId, messageChainId } = chain
    const source = new StorageSource(
      {
        streamPartId,
        selection: { kind: 'range', from: after, to: upTo },
        publisherId,
        messageChainId,
        windowBytes: limits.minSourceWindowBytes,
      },
      peer,
      sourceModules,
    )
    let bytes = 0
    try {
      for await (const batch of source.batches(signal)) {
        bytes += batch.bytes.length
        if (bytes > limits.maxArchiveBytesPerGap) break
        if ((await check.check(batch)) === 'forged') {
          throw clientError(
            'RESEND_INVALID_ANSWER',
            `${peer.nodeId}: a batch that ${publisherId} did not sign`,
          )
        }
        onBatch(batch.bytes, batch.messages)
      }
    } catch (error) {
      this.#report(error, streamPartId, peer)
    }
  }

  #report(
    error: unknown,
    streamPartId: Gap['streamPartId'],
    { nodeId: storageNodeId }: WantedNeighbour,
  ): void {
    if (isRunnelError(error, 'ABORTED')) return
    if (isRunnelError(error, 'RESEND_DENIED')) this.#rememberDenied(`${streamPartId} ${storageNodeId}`)
    this.#modules.history.directory.forget(streamPartId)
    this.#modules.status.emit({ type: 'storage-failed', streamPartId, storageNodeId, error: asError(error) })
  }

  #rememberDenied(key: string): void {
    this.#deniedUntilMs.set(key, this.#modules.history.sourceModules.clock.monotonicMs() + deniedMs)
  }

  #isDenied({ streamPartId }: Gap, { nodeId }: WantedNeighbour): boolean {
    const untilMs = this.#deniedUntilMs.peek(`${streamPartId} ${nodeId}`)
    return untilMs !== undefined && this.#modules.history.sourceModules.clock.monotonicMs() < untilMs
  }
}

/** The archive of a node that is made before the client which fills its gaps. */
export class LateArchive implements Archive {
  #archive: Archive | undefined

  use(archive: Archive): void {
    this.#archive = archive
  }

  async fill(...[gap, give, signal]: Parameters<Archive['fill']>): Promise<void> {
    await this.#archive?.fill(gap, give, signal)
  }
}
