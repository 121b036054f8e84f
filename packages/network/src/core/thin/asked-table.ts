import type { FloodMode } from '@runnel/protocol'

/** What a neighbour asked for, of one chain. */
export interface AskedMode {
  /** The neighbour's. */
  readonly alias: number
  mode: FloodMode
  untilMs: number
}

/** What one neighbour asked for, by chain, and by the aliases that it gave them: a bounded number. */
export class AskedTable<K, A extends AskedMode> {
  readonly #max: number
  readonly #byChain = new Map<K, A>()
  readonly #byAlias = new Map<number, A>()

  constructor(max: number) {
    this.#max = max
  }

  get size(): number {
    return this.#byChain.size
  }

  /** False when the neighbour asked too much. `forgotten` is told of what it asked before by another alias. */
  ask(chain: K, asked: AskedMode, fresh: () => A, forgotten: (asked: A) => void): boolean {
    const { alias, mode, untilMs } = asked
    const known = this.#byChain.get(chain)
    if (known !== undefined && known.alias === alias) {
      Object.assign(known, { mode, untilMs })
      return true
    }
    if (known !== undefined) {
      this.#forget(chain, known)
      forgotten(known)
    }
    // Of an alias that is given again, the digests would be of the other chain.
    if (this.#byChain.size >= this.#max || this.#byAlias.has(alias)) return mode === 'eager'
    const made = fresh()
    this.#byChain.set(chain, made)
    this.#byAlias.set(alias, made)
    return true
  }

  /** What was asked for and still holds. */
  find(chain: K, nowMs: number): A | undefined {
    const asked = this.#byChain.get(chain)
    return asked !== undefined && asked.untilMs > nowMs ? asked : undefined
  }

  byAlias(alias: number): A | undefined {
    return this.#byAlias.get(alias)
  }

  /** Forgets what `isGone` is true of; returns it. */
  sweep(isGone: (asked: A) => boolean): readonly A[] {
    const gone = [...this.#byChain].filter(([, asked]) => isGone(asked))
    for (const [chain, asked] of gone) this.#forget(chain, asked)
    return gone.map(([, asked]) => asked)
  }

  #forget(chain: K, { alias }: A): void {
    this.#byChain.delete(chain)
    this.#byAlias.delete(alias)
  }
}
