import type { DetachReason, NodeId, RunnelError, StreamPartId } from '@runnel/protocol'
import { networkError } from '../../errors.ts'
import type { HostAddress, HostNews, HostsOptions } from '../../ports.ts'
import type { Counters } from '../counters.ts'
import { HostChoice, type HostChoiceLimits, type HostChoiceModules } from './host-choice.ts'

export interface HostsModules extends HostChoiceModules {
  readonly counters: Counters
  /** Whether a linked node serves guests; undefined without a link. */
  isHost(peerId: NodeId): boolean | undefined
  /** These are linked now. */
  use(hosts: readonly NodeId[]): void
  news(news: HostNews): void
}

/** The hosts of a light node: which are linked, and what is told of them. */
export class Hosts {
  readonly #choice: HostChoice
  readonly #modules: HostsModules
  readonly #linked = new Set<NodeId>()
  readonly #parts = new Set<StreamPartId>()

  constructor(options: HostsOptions & { readonly limits: HostChoiceLimits }, modules: HostsModules) {
    this.#modules = modules
    this.#choice = new HostChoice(options, modules)
  }

  get dueMs(): number {
    return this.#choice.dueMs
  }

  /** The linked hosts, the preferred first. */
  get linked(): readonly (HostAddress & { readonly nodeId: NodeId })[] {
    return this.#choice.found.flatMap((nodeId) => {
      const address = this.#linked.has(nodeId) ? this.#choice.addressOf(nodeId) : undefined
      return address === undefined ? [] : [{ url: address.url, nodeId }]
    })
  }

  started(nowMs: number): void {
    this.#choice.need(true, nowMs)
  }

  joined(streamPartId: StreamPartId, nowMs: number): void {
    this.#parts.add(streamPartId)
    this.#choice.need(true, nowMs)
  }

  left(streamPartId: StreamPartId, nowMs: number): void {
    this.#parts.delete(streamPartId)
    if (this.#parts.size === 0) this.#choice.need(false, nowMs)
  }

  tick(nowMs: number): void {
    this.#choice.tick(nowMs)
  }

  networkBack(nowMs: number): void {
    this.#choice.networkBack(nowMs)
  }

  /** Its link opens next, or is open already. */
  found(url: string, peerId: NodeId, nowMs: number): void {
    if (!this.#choice.foundAt(url, peerId, nowMs))
      return this.#tell({
        url,
        nodeId: peerId,
        state: 'failed',
        error: failure(url, 'it is a host that is linked'),
      })
    if (this.#modules.isHost(peerId) !== undefined) this.linkOpened(peerId, nowMs)
  }

  failed(url: string, error: RunnelError, nowMs: number): void {
    this.#tell({ url, state: 'failed', error: failure(url, error.message, error) })
    this.#choice.failed(url, nowMs)
  }

  linkOpened(peerId: NodeId, nowMs: number): void {
    const address = this.#choice.addressOf(peerId)
    if (address === undefined) return
    const { url } = address
    if (this.#modules.isHost(peerId) !== true) {
      this.#tell({ url, nodeId: peerId, state: 'failed', error: networkError('NOT_A_HOST', url) })
      this.#modules.drop(peerId)
      this.#choice.rest(peerId, nowMs)
      this.#choice.closed(peerId, nowMs)
      return
    }
    this.#linked.add(peerId)
    this.#tell({ url, nodeId: peerId, state: 'connected' })
    this.#use()
    // One more than is needed: another rests.
    this.#choice.tick(nowMs)
  }

  linkClosed(peerId: NodeId, reason: string, nowMs: number): void {
    const address = this.#choice.addressOf(peerId)
    const wasLinked = this.#linked.delete(peerId)
    if (address !== undefined) {
      const { url } = address
      this.#tell({ url, nodeId: peerId, state: 'lost', error: failure(url, reason) })
    }
    this.#choice.closed(peerId, nowMs)
    if (wasLinked) this.#use()
  }

  refused(streamPartId: StreamPartId, peerId: NodeId, reason: DetachReason, nowMs: number): void {
    const url = this.#choice.addressOf(peerId)?.url
    if (url === undefined || reason === 'left') return
    const error = networkError('HOST_REFUSED', `${url} in ${streamPartId}: ${reason}`)
    this.#modules.news({ url, nodeId: peerId, state: 'refused', error })
    if (reason === 'full') this.#choice.rest(peerId, nowMs)
  }

  /** It brings messages late, or not at all: another is preferred. */
  fails(peerId: NodeId, how: 'slow' | 'silent', nowMs: number): void {
    const url = this.#choice.addressOf(peerId)?.url
    if (url !== undefined) this.#modules.news({ url, nodeId: peerId, state: how })
    this.#choice.rest(peerId, nowMs)
  }

  withheld(peerId: NodeId, nowMs: number): void {
    this.#choice.rest(peerId, nowMs)
  }

  #tell(news: HostNews): void {
    if (news.error !== undefined) this.#modules.counters['hosts.failed']++
    this.#modules.news(news)
  }

  #use(): void {
    this.#modules.use(this.linked.map(({ nodeId }) => nodeId))
  }
}

function failure(url: string, detail: string, cause?: RunnelError): RunnelError {
  return networkError('HOST_FAILED', `${url}: ${detail}`, { cause })
}
