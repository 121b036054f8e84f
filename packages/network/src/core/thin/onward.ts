import { digestCheck, placeOf, type MessageBatch, type MessageRef, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { CopyWay } from '../overlay-effects.ts'
import type { ThinChain } from './thin-chains.ts'
import type { Asked } from './asked.ts'
import type { ThinLink } from './thin-link.ts'
import type { ThinLinks } from './thin-links.ts'

interface OnwardModules {
  readonly links: ThinLinks
  readonly counters: Counters
}

interface OnwardOptions {
  readonly batch: MessageBatch
  readonly progress: ChainProgress
  /** Of its last message. */
  readonly last: MessageRef
  /** Where its flood is thinned here. */
  readonly chain: ThinChain | undefined
  /** Who is known to have it besides the one that brought it. */
  readonly holders: readonly NodeId[]
  /** What is lost of it is noticed soon, by what has come of the chain or follows. */
  readonly mayLose: boolean
  readonly nowMs: number
}

/** Says for each neighbour what becomes of one batch that was taken, and puts down what it is to be told in place of a copy. */
export class Onward {
  readonly #options: OnwardOptions
  readonly #modules: OnwardModules

  constructor(options: OnwardOptions, modules: OnwardModules) {
    this.#options = options
    this.#modules = modules
  }

  /** How it goes to a neighbour; undefined where this has it, or is told of it in place of a copy. Once for each. */
  copyFor(peerId: NodeId): CopyWay | undefined {
    const { batch, progress, chain, holders, mayLose, nowMs } = this.#options
    const { links, counters } = this.#modules
    const link = links.find(peerId)
    const asked = link?.askedOf(progress, nowMs)
    const isHolder = holders.includes(peerId)
    if (asked === undefined && !isHolder) {
      if (link !== undefined) links.sendDigest(peerId, link, nowMs)
      return links.wayFor(peerId, link, { progress, batchHeaderBytes: batch.headerEnd, mayLose }, nowMs)
    }
    counters['thin.spared']++
    // It has what it announced, and waits for nothing, unless it is about to send it: there may be two for a while.
    if (!isHolder || chain?.ways.modeOf(peerId, nowMs) === 'standby') this.#tell(peerId, asked)
    if (!isHolder && asked?.mode === 'standby' && link !== undefined) this.#doubt(link, asked)
    return undefined
  }

  /** By its own alias where it asked, else by ours. */
  #tell(peerId: NodeId, asked: Asked | undefined): void {
    const { batch, last, chain, nowMs } = this.#options
    const alias = asked?.alias ?? chain?.alias
    if (alias === undefined) return
    const check = digestCheck(batch.bytes, peerId)
    this.#modules.links.tell(
      peerId,
      { ...placeOf(last), alias, isSenders: asked === undefined, check },
      nowMs,
    )
  }

  #doubt(link: ThinLink, asked: Asked): void {
    const { last, nowMs } = this.#options
    this.#modules.links.unsure(link, asked, placeOf(last), nowMs)
  }
}
