import type { DigestEntry, MessageRef } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { Asked } from './asked.ts'
import { AskedTable } from './asked-table.ts'
import { DigestQueue } from './digest-queue.ts'
import { Lateness } from '../lateness.ts'
import { pushedMs, UnsureBatches, type UnsureBatchesLimits } from './unsure-batches.ts'

export interface ThinLinkLimits extends UnsureBatchesLimits {
  readonly maxThinAsks: number
  readonly digestIntervalMs: number
}

/** One neighbour at whose wish less is flooded to it: what it asked for, what it is to be told, and what it may lack. */
export class ThinLink {
  /** What it may lack. */
  readonly unsure: UnsureBatches
  /** What it is to be told. */
  readonly digest: DigestQueue<DigestEntry>
  readonly #asked: AskedTable<ChainProgress, Asked>

  constructor(limits: ThinLinkLimits) {
    this.unsure = new UnsureBatches(limits)
    this.digest = new DigestQueue(limits.digestIntervalMs)
    this.#asked = new AskedTable(limits.maxThinAsks)
  }

  get isEmpty(): boolean {
    return this.#asked.size === 0 && this.digest.size === 0
  }

  get dueMs(): number {
    return Math.min(this.digest.dueMs, this.unsure.dueMs)
  }

  /** False when the neighbour asked too much. */
  ask(asked: Omit<Asked, 'lateness'>): boolean {
    const fresh = (): Asked => ({ ...asked, lateness: new Lateness() })
    return this.#asked.ask(asked.progress, asked, fresh, (before) => this.unsure.forget(before))
  }

  /** What was asked for in place of copies, and still holds. */
  askedOf(progress: ChainProgress, nowMs: number): Asked | undefined {
    const asked = this.#asked.find(progress, nowMs)
    return asked?.mode === 'eager' ? undefined : asked
  }

  /** What the neighbour calls a chain for now. */
  aliasOf(progress: ChainProgress, nowMs: number): number | undefined {
    return this.#asked.find(progress, nowMs)?.alias
  }

  byAlias(alias: number): Asked | undefined {
    return this.#asked.byAlias(alias)
  }

  /** The neighbour has a batch of a chain, as its copy shows or its digest says; `isMeasured` as for `UnsureBatches`. */
  has(progress: ChainProgress, place: MessageRef, nowMs: number, isMeasured: boolean): void {
    const asked = this.#asked.find(progress, -Infinity)
    if (asked !== undefined) this.unsure.has(asked, place, nowMs, isMeasured)
  }

  /** Forgets what has ended, or what `isGone` is true of. */
  sweep(nowMs: number, isGone: (asked: Asked) => boolean): void {
    for (const asked of this.#asked.sweep((one) => one.untilMs + pushedMs <= nowMs || isGone(one)))
      this.unsure.forget(asked)
  }
}
