import {
  isRunnelError,
  type MessageBatch,
  type NodeId,
  type ResendSelection,
  type ResendStart,
  type RunnelError,
  type StreamPartId,
  type WantedNeighbour,
} from '@runnel/protocol'
import { clientError } from '../errors.ts'
import type { SourceRequest } from './answer-progress.ts'
import { StorageSource, type SourceModules } from './storage-source.ts'

/** A stream part and the storage nodes to ask for it. */
export interface PartPlan {
  readonly streamPartId: StreamPartId
  /** In the order in which they are asked. */
  readonly storageNodes: readonly WantedNeighbour[]
}

/** A source that has begun to answer. */
export interface StartedSource {
  readonly source: StorageSource
  readonly extent: ResendStart
}

export type Arrival = MessageBatch | 'end' | 'failure'

export interface PartEvents {
  /** A storage node is given up; others go on. */
  sourceFailed(streamPartId: StreamPartId, storageNodeId: NodeId, error: RunnelError): void
}

/** The storage nodes read for one stream part: some at once, the others standing by. */
export class PartSources {
  readonly streamPartId: StreamPartId
  readonly #request: Omit<SourceRequest, 'selection'>
  readonly #modules: SourceModules & { readonly events: PartEvents }
  readonly #standby: WantedNeighbour[]
  readonly #open = new Set<StorageSource>()
  /** Nodes that were too slow. */
  readonly #spared = new Set<NodeId>()
  readonly #ending = new AbortController()
  readonly #failures: RunnelError[] = []
  readonly #failed = new Set<NodeId>()
  /** To which no link could be opened. */
  readonly #unlinked = new Set<WantedNeighbour>()
  /** Nodes that have sent all they had, as far as their answers were read. */
  readonly #complete = new Set<StorageSource>()

  constructor(
    plan: PartPlan,
    request: Omit<SourceRequest, 'streamPartId' | 'selection'>,
    modules: SourceModules & { events: PartEvents },
  ) {
    this.streamPartId = plan.streamPartId
    this.#standby = [...plan.storageNodes]
    this.#request = { ...request, streamPartId: plan.streamPartId }
    this.#modules = modules
  }

  /**
   * Asks as many nodes at once as allowed and replaces the ones that fail. Where none answers, those to which no link could be opened are
   * asked once more, as a dial may fail for once. Rejects with RESEND_FAILED or RESEND_DENIED when all fail.
   */
  async start(selection: ResendSelection): Promise<readonly StartedSource[]> {
    const sources = await this.#startSome(selection)
    if (sources.length > 0) return sources
    this.#standby.push(...this.#unlinked)
    const again = await this.#startSome(selection)
    if (again.length === 0) throw this.#allFailed()
    return again
  }

  /** A replacement for a node that failed; undefined when the remaining or finished ones must suffice. */
  async replace(selection: ResendSelection): Promise<StartedSource | undefined> {
    const next = await this.#startNext(selection)
    if (next === undefined && this.#open.size + this.#complete.size === 0) throw this.#allFailed()
    return next
  }

  /** The next batch of a source, or why there is none; a failure was reported. */
  async next(source: StorageSource): Promise<Arrival> {
    try {
      const batch = await source.next()
      if (batch !== undefined) return batch
      this.#open.delete(source)
      this.#complete.add(source)
      return 'end'
    } catch (error) {
      this.fail(source, error)
      return 'failure'
    }
  }

  /** Gives a source up, once. */
  fail(source: StorageSource, error: unknown): void {
    source.cancel()
    const isUsed = [this.#open, this.#complete].map((sources) => sources.delete(source))
    if (isUsed.includes(true)) this.report(source.nodeId, error)
  }

  /** Gives a source up for now, as others have to wait for it: it stands by, and is asked again at the end, once. */
  spare(source: StorageSource, error: unknown): void {
    this.fail(source, error)
    if (this.#spared.has(source.nodeId)) return
    this.#spared.add(source.nodeId)
    this.#standby.push(source.peer)
  }

  /** Asks the nodes that were too slow for the rest, because the others have sent all they had. */
  async startSpared(selection: ResendSelection): Promise<readonly StartedSource[]> {
    const asked = this.#standby.filter((peer) => this.#spared.has(peer.nodeId))
    for (const peer of asked) this.#standby.splice(this.#standby.indexOf(peer), 1)
    const started = await Promise.all(asked.map((peer) => this.#startAt(peer, selection)))
    return started.filter((source) => source !== undefined)
  }

  /** Storage nodes that were not asked yet or were too slow. */
  get standby(): readonly WantedNeighbour[] {
    return [...this.#standby]
  }

  /** Nodes that were given up. */
  get failed(): readonly NodeId[] {
    return [...this.#failed]
  }

  /** Aborted by `cancel`. */
  get ending(): AbortSignal {
    return this.#ending.signal
  }

  cancel(): void {
    this.#ending.abort()
    for (const source of this.#open) source.cancel()
    this.#open.clear()
    this.#standby.length = 0
  }

  async #startSome(selection: ResendSelection): Promise<StartedSource[]> {
    const { maxSourcesPerPart } = this.#modules.limits
    const started = await Promise.all(
      Array.from({ length: maxSourcesPerPart }, () => this.#startNext(selection)),
    )
    return started.filter((source) => source !== undefined)
  }

  async #startNext(selection: ResendSelection): Promise<StartedSource | undefined> {
    for (let peer = this.#standby.shift(); peer !== undefined; peer = this.#standby.shift()) {
      const started = await this.#startAt(peer, selection)
      if (started !== undefined) return started
    }
    return undefined
  }

  async #startAt(peer: WantedNeighbour, selection: ResendSelection): Promise<StartedSource | undefined> {
    const source = new StorageSource({ ...this.#request, selection }, peer, this.#modules)
    this.#open.add(source)
    try {
      const extent = await source.start()
      this.#failed.delete(peer.nodeId)
      return { source, extent }
    } catch (error) {
      if (isRunnelError(error) && isRunnelError(error.cause, 'LINK_FAILED')) this.#unlinked.add(peer)
      this.fail(source, error)
      return undefined
    }
  }

  /** A storage node failed, while being read or while asked for a gap. */
  report(storageNodeId: NodeId, error: unknown): void {
    if (!isRunnelError(error)) throw error
    if (error.code === 'ABORTED') return
    this.#failures.push(error)
    this.#failed.add(storageNodeId)
    this.#modules.events.sourceFailed(this.streamPartId, storageNodeId, error)
  }

  #allFailed(): RunnelError {
    const denied = this.#failures.length > 0 && this.#failures.every(({ code }) => code === 'RESEND_DENIED')
    // One that was asked again says the same again.
    const reasons = new Set(this.#failures.map(({ message }) => message))
    const detail = `${this.streamPartId}: ${[...reasons].join('; ')}`
    return clientError(denied ? 'RESEND_DENIED' : 'RESEND_FAILED', detail, { cause: this.#failures[0] })
  }
}
