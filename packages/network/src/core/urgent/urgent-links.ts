import {
  digestCheck,
  limits as wireLimits,
  RareMap,
  type FloodMode,
  type MessageRef,
  type NodeId,
  type UrgentDigest,
} from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { OverlayEffects } from '../overlay-effects.ts'
import { AskedTable, type AskedMode } from '../thin/asked-table.ts'
import { DigestQueue } from '../thin/digest-queue.ts'

export interface UrgentLinksLimits {
  readonly maxThinAsks: number
  readonly urgentDigestIntervalMs: number
  readonly lazyDigestMs: number
}

export interface UrgentLinksModules {
  readonly effects: Pick<OverlayEffects, 'sendControl'>
  readonly counters: Counters
}

/** What a neighbour asked for, of one chain of urgent messages. */
export interface UrgentAsked extends AskedMode {
  /** As `urgentChainKey` says. */
  readonly chain: string
  readonly streamPartId: string
}

/** One neighbour that asked for less: what it asked for, and what it is to be told. */
interface UrgentLink {
  readonly asked: AskedTable<string, UrgentAsked>
  readonly digest: DigestQueue<UrgentDigest['entries'][number]>
}

/** The neighbours that asked for digests in place of copies of urgent messages, a bounded number of chains each. */
export class UrgentLinks {
  readonly #limits: UrgentLinksLimits
  readonly #modules: UrgentLinksModules
  readonly #links = new RareMap<NodeId, UrgentLink>()
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: UrgentLinksLimits, modules: UrgentLinksModules) {
    this.#limits = limits
    this.#modules = modules
  }

  get size(): number {
    return this.#links.size
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** False when the neighbour asked too much. */
  ask(peerId: NodeId, asked: UrgentAsked): boolean {
    return this.#linkOf(peerId).asked.ask(
      asked.chain,
      asked,
      () => ({ ...asked }),
      () => undefined,
    )
  }

  modeOf(peerId: NodeId, chain: string, nowMs: number): FloodMode {
    return this.#links.get(peerId)?.asked.find(chain, nowMs)?.mode ?? 'eager'
  }

  /** The chain that a neighbour gave an alias, while it wants less than copies of it. */
  chainOf(peerId: NodeId, alias: number): string | undefined {
    return this.#links.get(peerId)?.asked.byAlias(alias)?.chain
  }

  /** Adds a message to the next digest for a neighbour. */
  tell(
    peerId: NodeId,
    chain: string,
    message: { readonly place: MessageRef; readonly bytes: Uint8Array },
    nowMs: number,
  ): void {
    const link = this.#links.get(peerId)
    const asked = link?.asked.find(chain, nowMs)
    if (link === undefined || asked === undefined) return
    const { alias, mode } = asked
    const waitMs = mode === 'standby' ? 1 : this.#limits.lazyDigestMs
    const { timestamp, sequenceNumber } = message.place
    const check = digestCheck(message.bytes, peerId)
    link.digest.add({ alias, timestamp, sequenceNumber, check }, nowMs, waitMs)
    this.#dueMs = Math.min(this.#dueMs, link.digest.dueMs)
  }

  tick(nowMs: number): void {
    if (this.#dueMs > nowMs) return
    this.#dueMs = Infinity
    for (const [peerId, { digest }] of this.#links) {
      if (digest.dueMs <= nowMs) this.#send(peerId, digest.take(nowMs, wireLimits.maxDigestEntries))
      this.#dueMs = Math.min(this.#dueMs, digest.dueMs)
    }
  }

  closed(peerId: NodeId): void {
    this.#links.delete(peerId)
  }

  /** Forgets what has ended, or what was asked of a stream part: by one neighbour, or all. */
  sweep(nowMs: number, streamPartId?: string, peerId?: NodeId): void {
    for (const [id, { asked }] of this.#links) {
      if (peerId !== undefined && id !== peerId) continue
      asked.sweep((one) => one.untilMs <= nowMs || one.streamPartId === streamPartId)
      if (asked.size === 0) this.#links.delete(id)
    }
  }

  #send(peerId: NodeId, entries: UrgentDigest['entries']): void {
    if (entries.length === 0) return
    this.#modules.counters['urgent.digests']++
    this.#modules.effects.sendControl(peerId, { type: 'urgentDigest', entries }, true)
  }

  #linkOf(peerId: NodeId): UrgentLink {
    let link = this.#links.get(peerId)
    if (link === undefined) {
      link = {
        asked: new AskedTable(this.#limits.maxThinAsks),
        digest: new DigestQueue(this.#limits.urgentDigestIntervalMs),
      }
      this.#links.set(peerId, link)
    }
    return link
  }
}
