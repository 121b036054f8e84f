import { RareSet } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'

/**
 * The chains of a stream part of which some neighbour may lack the newest message. Some are told at a time, and each has its turn: all of them
 * at once would be more than a neighbour can pursue, and cost as much as the messages themselves where neighbours confirm nothing.
 */
export class HeadsInTurn {
  readonly #chains = new RareSet<ChainProgress>()

  get size(): number {
    return this.#chains.size
  }

  /** Keeps its place where it waits already. */
  add(progress: ChainProgress): void {
    this.#chains.add(progress)
  }

  delete(progress: ChainProgress): void {
    this.#chains.delete(progress)
  }

  /** Takes the next, at most `max`, and those before them that need not be told any more. */
  take(max: number, isNeeded: (progress: ChainProgress) => boolean): readonly ChainProgress[] {
    const taken: ChainProgress[] = []
    for (const progress of this.#chains) {
      if (taken.length >= max) break
      this.#chains.delete(progress)
      if (isNeeded(progress)) taken.push(progress)
    }
    return taken
  }
}
