import { digestCheck, placeOf, type MessageBatch, type MessageRef, type NodeId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { ThinChain } from './thin-chains.ts'
import type { Asked, ThinLink } from './thin-link.ts'
import type { ThinLinks } from './thin-links.ts'

/** How a neighbour gets a batch: not as a copy, since it has it or is told of it; as one that may be lost; or as one that arrives. */
export type Copy = 'none' | 'lossy' | 'reliable'

interface OnwardOptions {
  readonly batch: MessageBatch
  readonly progress: ChainProgress
  /** Of its last message. */
  readonly last: MessageRef
  /** Where its flood is thinned here. */
  readonly chain: ThinChain | undefined
  /** Who is known to have it besides the one that brought it. */
  readonly holders: readonly NodeId[]
  /** What is lost of it is noticed soon, as more follows. */
  readonly mayLose: boolean
  readonly nowMs: number
}

/** Says for each neighbour what becomes of one batch that was taken, and puts down what it is to be told in place of a copy. */
export class Onward {
  readonly #options: OnwardOptions
  readonly #links: ThinLinks
  readonly #counters: Counters
  readonly #standby: NodeId | undefined

  constructor(
    options: OnwardOptions,
    modules: { readonly links: ThinLinks; readonly counters: Counters },
  ) {
    this.#options = options
    this.#links = modules.links
    this.#counters = modules.counters
    this.#standby = options.chain?.ways.standby(options.nowMs)
  }

  /** Once for each neighbour. */
  copyFor(peerId: NodeId): Copy {
    const { progress, holders, nowMs, mayLose } = this.#options
    const link = this.#links.find(peerId)
    const asked = link?.askedOf(progress, nowMs)
    const isHolder = holders.includes(peerId)
    if (asked === undefined && !isHolder) {
      if (link !== undefined) this.#links.sendDigest(peerId, link, nowMs)
      return mayLose ? 'lossy' : 'reliable'
    }
    this.#counters['thin.spared']++
    // It has what it announced, and waits for nothing, unless it is about to send it.
    if (!isHolder || peerId === this.#standby) this.#tell(peerId, asked)
    if (!isHolder && asked?.mode === 'standby' && link !== undefined) this.#doubt(link, asked)
    return 'none'
  }

  /** By its own alias where it asked, else by ours. */
  #tell(peerId: NodeId, asked: Asked | undefined): void {
    const { batch, last, chain, nowMs } = this.#options
    const alias = asked?.alias ?? chain?.alias
    if (alias === undefined) return
    const check = digestCheck(batch.bytes, peerId)
    this.#links.tell(peerId, { ...placeOf(last), alias, isSenders: asked === undefined, check }, nowMs)
  }

  #doubt(link: ThinLink, asked: Asked): void {
    const { last, nowMs } = this.#options
    this.#links.unsure(link, asked, placeOf(last), nowMs)
  }
}
