import type { RegistryChange } from '../ports.ts'

/** A block that was followed, and what it changed in the registries. */
export interface FollowedBlock {
  readonly number: number
  readonly hash: string
  readonly changes: readonly RegistryChange[]
}

/**
 * The last blocks that were followed, the oldest first: those that changed something, and those that were the head when
 * it was asked for. Bounded: what is older has left it, and cannot be taken back one by one.
 */
export class BlockWindow {
  readonly #maxBlocks: number
  #blocks: FollowedBlock[] = []

  constructor(maxBlocks: number) {
    this.#maxBlocks = maxBlocks
  }

  /** The newest block; undefined when there is none. */
  get last(): FollowedBlock | undefined {
    return this.#blocks.at(-1)
  }

  /** Takes a block that comes after all before; the one followed already gets no second entry. */
  add(block: FollowedBlock): void {
    if (this.last?.hash === block.hash) return
    this.#blocks.push(block)
    if (this.#blocks.length > this.#maxBlocks) this.#blocks.shift()
  }

  /** Takes the newest block back, and gives it. */
  removeLast(): FollowedBlock | undefined {
    return this.#blocks.pop()
  }
}
