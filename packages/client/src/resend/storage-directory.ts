import type { NetworkNode } from '@runnel/network'
import {
  toStreamPartId,
  untilAborted,
  type Clock,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { LRU } from 'tiny-lru'
import { deadline } from '../deadline.ts'
import type { StorageNodeInfo, StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import { isTrackerUrl } from '../registry/tracker-url.ts'
import type { StreamParts } from '../stream-parts.ts'
import type { ResendLimits } from './limits.ts'

interface Known {
  readonly contacts: readonly WantedNeighbour[]
  readonly untilMs: number
}

/** Which storage nodes keep a stream part, and how they are reached. */
export class StorageDirectory {
  readonly #limits: ResendLimits
  readonly #modules: { node: NetworkNode; cache: RegistryCache; parts: StreamParts; clock: Clock }
  /** What trackers told lately. In order of age. */
  readonly #told: LRU<Known>
  /** Pending questions: concurrent callers share one. */
  readonly #asking = new Map<StreamPartId, Promise<readonly WantedNeighbour[]>>()

  constructor(
    limits: ResendLimits,
    modules: { node: NetworkNode; cache: RegistryCache; parts: StreamParts; clock: Clock },
  ) {
    this.#limits = limits
    this.#told = new LRU(limits.maxContacts)
    this.#modules = modules
  }

  /**
   * The storage nodes that the registry names, but this node itself: as the tracker knows them, or else at the URL the
   * registry gives. Rejects with what the registry throws.
   */
  async storageNodes(
    stream: StreamInfo,
    partition: number,
    signal: AbortSignal,
  ): Promise<readonly WantedNeighbour[]> {
    const { cache, node, clock } = this.#modules
    const assigned = (await cache.storageNodesOf(stream.id)).filter(({ nodeId }) => nodeId !== node.nodeId)
    if (assigned.length === 0) return []
    const isDialable = assigned.every(({ url }) => isTrackerUrl(url))
    const { findPatienceMs, findTimeoutMs } = this.#limits
    const limited = deadline(clock, isDialable ? findPatienceMs : findTimeoutMs, signal)
    const told = await this.#contactsFrom(stream, toStreamPartId(stream.id, partition), limited.signal)
    limited.end()
    return assigned
      .map((info) =>
        toContact(
          info,
          told.find(({ nodeId }) => nodeId === info.nodeId),
        ),
      )
      .filter((contact) => contact !== undefined)
  }

  /** Its answer was of no use: ask again. */
  forget(streamPartId: StreamPartId): void {
    this.#told.delete(streamPartId)
  }

  async #contactsFrom(
    stream: StreamInfo,
    streamPartId: StreamPartId,
    signal: AbortSignal,
  ): Promise<readonly WantedNeighbour[]> {
    const known = this.#told.peek(streamPartId)
    if (known !== undefined && this.#modules.clock.monotonicMs() < known.untilMs) return known.contacts
    const asking = this.#asking.get(streamPartId) ?? this.#askTracker(stream, streamPartId)
    this.#asking.set(streamPartId, asking)
    return untilAborted(asking, signal).catch(() => [])
  }

  /** Never rejects. */
  async #askTracker(stream: StreamInfo, streamPartId: StreamPartId): Promise<readonly WantedNeighbour[]> {
    const { node, parts, clock } = this.#modules
    const release = parts.use(stream)
    const { findTimeoutMs, contactsMaxAgeMs, findAgainMs } = this.#limits
    const limited = deadline(clock, findTimeoutMs)
    try {
      const contacts = await node.findStorage(streamPartId, limited.signal)
      this.#remember(streamPartId, contacts, contactsMaxAgeMs)
      return contacts
    } catch {
      // No tracker, or none in time: the registry's URLs are left.
      this.#remember(streamPartId, [], findAgainMs)
      return []
    } finally {
      limited.end()
      release()
      this.#asking.delete(streamPartId)
    }
  }

  #remember(streamPartId: StreamPartId, contacts: readonly WantedNeighbour[], maxAgeMs: number): void {
    const untilMs = this.#modules.clock.monotonicMs() + maxAgeMs
    this.#told.set(streamPartId, { contacts, untilMs })
  }
}

/** Undefined when there is no way to reach it. */
export function toContact(
  { nodeId, url }: StorageNodeInfo,
  told: WantedNeighbour | undefined,
): WantedNeighbour | undefined {
  const registered = isTrackerUrl(url) ? url : ''
  if (told === undefined && registered === '') return undefined
  const { addresses, dials } = told?.contact ?? { addresses: [], dials: [] }
  // Behind what the tracker says, which is newer: of one kind the first is dialled.
  const known = registered === '' ? addresses : [...addresses, { kind: 'websocket', text: registered }]
  return { nodeId, contact: { addresses: known, dials } }
}
