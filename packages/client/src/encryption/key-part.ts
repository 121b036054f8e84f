import type { NetworkNode } from '@runnel/network'
import {
  compareRefs,
  isRunnelError,
  isSideMessage,
  keyPartition,
  limits,
  placeOf,
  toStreamPartId,
  type Clock,
  type Crypto,
  type KeyRecord,
  type MessageRef,
  type NodeId,
  type Random,
  type StreamMessage,
} from '@runnel/protocol'
import { decodeKeyRecord, encodeKeyRecord } from '@runnel/protocol/key-records'
import { LRU } from 'tiny-lru'
import type { ActingUser } from '../identity/acting-user.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { RegistryCache } from '../registry/registry-cache.ts'
import type { HistorySource } from '../resend/history-source.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import { publishAlone } from '../side/publish-alone.ts'
import { SideTimes } from '../side/side-part.ts'
import type { StreamParts } from '../stream-parts.ts'

/** A record and who signed it. */
export interface FoundRecord {
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly record: KeyRecord
  readonly place: MessageRef
}

export interface KeyPartModules {
  readonly node: Pick<NetworkNode, 'publish' | 'waitForNeighbours'>
  readonly parts: Pick<StreamParts, 'join' | 'neighbourCount'>
  readonly history: Pick<HistorySource, 'plan' | 'read'>
  readonly user: Pick<ActingUser, 'userId' | 'signer'>
  readonly cache: Pick<RegistryCache, 'permissionsOf'>
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
}

/** Flooded records of a stream that are kept: about 10 MB at most, mostly far less. */
const maxRecent = 1_000
/** Shortest time between questions to storage nodes for a newer record of a live chain: floods lose some. */
const pauseMs = 2_000
/** The kinds of chains with one record for ever: epochs, cohorts, and keys of publishers. */
const lasting = ['e', 'c', 'w']

/** The part of a stream in which its keys are: publishes records, finds them, and hears of new ones. */
export class KeyPart {
  /** Hears of each record that floods, checked as messages are. */
  onRecord: (found: FoundRecord) => void = () => {}
  readonly #stream: StreamInfo
  readonly #modules: KeyPartModules
  readonly #recent = new LRU<FoundRecord>(maxRecent)
  /** Those published here, however many others come; by chain. */
  readonly #own = new LRU<FoundRecord>(maxRecent)
  /** When storage nodes were asked for a chain, by the monotonic clock. */
  readonly #askedMs = new LRU<number>(maxRecent)
  readonly #times = new SideTimes()
  #leave: (() => void) | undefined
  #isDenied = false
  #judging: Promise<void> | undefined

  constructor(options: { readonly stream: StreamInfo }, modules: KeyPartModules) {
    this.#stream = options.stream
    this.#modules = modules
  }

  /** Joins its overlay. Idempotent. */
  join(): void {
    // Each record stands by itself: there are no gaps between them.
    this.#leave ??= this.#modules.parts.join(this.#stream, keyPartition, { fillGaps: false })
  }

  /** Storage nodes refused, and by the registry the user may neither read nor publish: they are not asked until that may have changed. */
  get isDenied(): boolean {
    return this.#isDenied
  }

  /** The user's permissions may be others now. */
  permissionsChanged(): void {
    this.#isDenied = false
  }

  /** Somebody else is in the stream. */
  get hasCompany(): boolean {
    const { id, partitions } = this.#stream
    const { parts } = this.#modules
    return Array.from({ length: partitions }, (_, partition) => toStreamPartId(id, partition)).some(
      (streamPartId) => parts.neighbourCount(streamPartId) > 0,
    )
  }

  /** Joins, and resolves when there is a neighbour, or nobody to be one. Rejects when the signal is aborted first. */
  async waitForNeighbour(signal: AbortSignal): Promise<void> {
    this.join()
    await this.#modules.node.waitForNeighbours(toStreamPartId(this.#stream.id, keyPartition), {
      orAlone: true,
      signal,
    })
  }

  /** For good. */
  leave(): void {
    this.#leave?.()
    this.#leave = () => {}
  }

  /** Signs a record and floods it. Returns its place, to wait until it is stored. */
  publish(messageChainId: string, record: KeyRecord): MessagePlace {
    const { user, clock, random } = this.#modules
    this.join()
    // Another process of the user may have written to the chain, by a clock that is ahead: what comes later has the later time.
    const name = nameOf({ publisherId: user.userId, messageChainId })
    const after = this.#recent.get(name)?.place
    // Two may write at once: with a random number they do not take the same place.
    const ref = {
      timestamp: this.#times.next(clock.now(), after),
      sequenceNumber: Math.floor(random.next() * 2 ** 32),
    }
    const chain = {
      streamId: this.#stream.id,
      partition: keyPartition,
      publisherId: user.userId,
      messageChainId,
    }
    publishAlone({ chain, place: ref, content: encodeKeyRecord(record) }, this.#modules)
    const own = { publisherId: user.userId, messageChainId, record, place: ref }
    this.#own.set(messageChainId, own)
    this.#recent.set(name, own)
    return { ...chain, ...ref }
  }

  /**
   * Publishes a record again that was published here, at another place, as nobody takes one twice. Undefined where a later one of its chain
   * is known, or so many more were published here that it is forgotten.
   */
  publishAgain(place: MessagePlace): MessagePlace | undefined {
    const { messageChainId } = place
    const own = this.#own.get(messageChainId)
    if (own === undefined || compareRefs(own.place, place) !== 0) return undefined
    const newest = this.#recent.get(nameOf(own))
    const isReplaced = newest !== undefined && compareRefs(newest.place, place) > 0
    return isReplaced ? undefined : this.publish(messageChainId, own.record)
  }

  /** A message of this part came. */
  receive(message: StreamMessage): void {
    const found = foundIn(message)
    if (found === undefined) return
    this.#keep(found)
    this.onRecord(found)
  }

  /**
   * The newest record of a chain: of what was seen of it, and what storage nodes have; undefined where there is none. Throws what the
   * registry throws, and ABORTED. Calls `onSilent` where storage nodes may have one, and do not answer, or refuse.
   */
  async find(
    publisherId: NodeId,
    messageChainId: string,
    signal: AbortSignal,
    onSilent?: () => void,
  ): Promise<KeyRecord | undefined> {
    const name = nameOf({ publisherId, messageChainId })
    const known = this.#recent.get(name)
    const nowMs = this.#modules.clock.monotonicMs()
    const isNew = lasting.includes(messageChainId.slice(0, 1)) || this.#wasAsked(name, nowMs)
    if (known !== undefined && isNew) return known.record
    this.#askedMs.set(name, nowMs)
    const [found] = await this.#stored({ publisherId, messageChainId }, 1, signal, onSilent)
    if (found !== undefined) this.#keep(found)
    return this.#recent.get(name)?.record
  }

  #wasAsked(name: string, nowMs: number): boolean {
    return nowMs - (this.#askedMs.get(name) ?? -Infinity) < pauseMs
  }

  /** The newest records of all, for what is nowhere else. */
  newest(count: number, signal: AbortSignal): Promise<readonly FoundRecord[]> {
    return this.#stored({ publisherId: undefined, messageChainId: undefined }, count, signal)
  }

  async #stored(
    chain: { readonly publisherId: NodeId | undefined; readonly messageChainId: string | undefined },
    count: number,
    signal: AbortSignal,
    onSilent?: () => void,
  ): Promise<readonly FoundRecord[]> {
    const { history } = this.#modules
    const found: FoundRecord[] = []
    if (this.#isDenied || this.#judging !== undefined) await this.#judge()
    if (this.#isDenied) {
      onSilent?.()
      return found
    }
    try {
      const plan = await history.plan(this.#stream, [keyPartition], signal)
      const wanted = { ...chain, selection: { kind: 'last', count } as const }
      for await (const run of history.read(plan, wanted, { signal, onGap: () => {} }))
        found.push(...run.flatMap((message) => foundIn(message) ?? []))
    } catch (error) {
      // No storage node, or none that answers: then there is what was seen.
      if (signal.aborted || !isRunnelError(error)) throw error
      if (error.code === 'RESEND_DENIED') await this.#judge()
      if (error.code !== 'NO_STORAGE_NODE') onSilent?.()
    }
    return found.reverse()
  }

  /** Whether to ask storage nodes at all; once for all who look for records meanwhile. A storage node that has not heard yet of a permission is asked again. */
  #judge(): Promise<void> {
    return (this.#judging ??= this.#lookAtRights().finally(() => (this.#judging = undefined)))
  }

  async #lookAtRights(): Promise<void> {
    const { cache, user, clock } = this.#modules
    const rights = await cache.permissionsOf(this.#stream.id, user.userId).catch(() => undefined)
    this.#isDenied =
      rights !== undefined && Math.max(rights.publishUntilMs, rights.subscribeUntilMs) <= clock.now()
  }

  /** What comes late does not replace what is newer. */
  #keep(found: FoundRecord): void {
    const name = nameOf(found)
    const known = this.#recent.get(name)
    if (known === undefined || compareRefs(known.place, found.place) < 0) this.#recent.set(name, found)
  }
}

const nameOf = ({ publisherId, messageChainId }: Pick<FoundRecord, 'publisherId' | 'messageChainId'>) =>
  `${publisherId} ${messageChainId}`

/** Undefined for what is none, and for kinds of later versions. */
function foundIn(message: StreamMessage): FoundRecord | undefined {
  const { publisherId, messageChainId, content } = message
  if (isSideMessage(message) || content.length > limits.maxKeyRecordBytes) return undefined
  try {
    return { publisherId, messageChainId, record: decodeKeyRecord(content), place: placeOf(message) }
  } catch {
    return undefined
  }
}
