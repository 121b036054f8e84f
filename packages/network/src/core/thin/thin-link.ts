import type { DigestEntry, MessageRef } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { Asked } from './asked.ts'
import { Lateness } from './lateness.ts'
import { pushedMs, UnsureBatches, type UnsureBatchesLimits } from './unsure-batches.ts'

export interface ThinLinkLimits extends UnsureBatchesLimits {
  readonly maxThinAsks: number
}

/** One neighbour at whose wish less is flooded to it: what it asked for, what it is to be told, and what it may lack. */
export class ThinLink {
  /** What it may lack. */
  readonly unsure: UnsureBatches
  /** To be told with the next digest. */
  readonly #entries: DigestEntry[] = []
  readonly #limits: ThinLinkLimits
  readonly #asked = new Map<ChainProgress, Asked>()
  readonly #byAlias = new Map<number, Asked>()
  #toldMs = -Infinity
  #tellMs = Infinity

  constructor(limits: ThinLinkLimits) {
    this.#limits = limits
    this.unsure = new UnsureBatches(limits)
  }

  get isEmpty(): boolean {
    return this.#asked.size === 0 && this.#entries.length === 0
  }

  get tellMs(): number {
    return this.#tellMs
  }

  get dueMs(): number {
    return Math.min(this.#tellMs, this.unsure.dueMs)
  }

  /** False when the neighbour asked too much. */
  ask(asked: Omit<Asked, 'lateness'>): boolean {
    const { progress, alias, mode, untilMs } = asked
    const known = this.#asked.get(progress)
    if (known !== undefined && known.alias === alias) Object.assign(known, { mode, untilMs })
    else {
      if (known !== undefined) this.#forget(known)
      const isFull = this.#asked.size >= this.#limits.maxThinAsks
      // Of an alias that is given again, the digests would be of the other chain.
      if (isFull || this.#byAlias.has(alias)) return mode === 'eager'
      const fresh = { ...asked, lateness: new Lateness() }
      this.#asked.set(progress, fresh)
      this.#byAlias.set(alias, fresh)
    }
    return true
  }

  /** What was asked for and still holds. */
  askedOf(progress: ChainProgress, nowMs: number): Asked | undefined {
    const asked = this.#asked.get(progress)
    return asked !== undefined && asked.mode !== 'eager' && asked.untilMs > nowMs ? asked : undefined
  }

  /** What the neighbour calls a chain for now. */
  aliasOf(progress: ChainProgress, nowMs: number): number | undefined {
    const asked = this.#asked.get(progress)
    return asked !== undefined && asked.untilMs > nowMs ? asked.alias : undefined
  }

  byAlias(alias: number): Asked | undefined {
    return this.#byAlias.get(alias)
  }

  /** Adds to the next digest. */
  tell(entry: DigestEntry, nowMs: number): void {
    this.#entries.push(entry)
    this.#tellMs = Math.min(this.#tellMs, Math.max(nowMs + 1, this.#toldMs + this.#limits.digestIntervalMs))
  }

  /** What the next digest tells, the oldest first. */
  takeEntries(nowMs: number, max: number): readonly DigestEntry[] {
    if (this.#entries.length === 0) return []
    this.#toldMs = nowMs
    const entries = this.#entries.splice(0, max)
    this.#tellMs = this.#entries.length > 0 ? nowMs + 1 : Infinity
    return entries
  }

  /** The neighbour has a batch of a chain, as its copy shows or its digest says; `isMeasured` as for `UnsureBatches`. */
  has(progress: ChainProgress, place: MessageRef, nowMs: number, isMeasured: boolean): void {
    const asked = this.#asked.get(progress)
    if (asked !== undefined) this.unsure.has(asked, place, nowMs, isMeasured)
  }

  /** Forgets what has ended, or what `isGone` is true of. */
  sweep(nowMs: number, isGone: (asked: Asked) => boolean): void {
    for (const asked of [...this.#asked.values()])
      if (asked.untilMs + pushedMs <= nowMs || isGone(asked)) this.#forget(asked)
  }

  #forget(asked: Asked): void {
    this.#asked.delete(asked.progress)
    this.#byAlias.delete(asked.alias)
    this.unsure.forget(asked)
  }
}
