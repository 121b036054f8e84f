import type { RegistryChange } from '../ports.ts'

/** A followed block and its changes of the registries. */
export interface FollowedBlock {
  readonly number: number
  readonly hash: string
  readonly changes: readonly RegistryChange[]
}

/**
 * The last blocks that were followed, oldest first: blocks that changed something, and blocks that were the head when it was
 * asked for. Bounded: older blocks are dropped and cannot be taken back one by one.
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

  /** The oldest block; undefined when there is none. */
  get first(): FollowedBlock | undefined {
    return this.#blocks[0]
  }

  /** True when what the block changed is here. */
  hasChangesOf(hash: string): boolean {
    return this.#blocks.some((block) => block.hash === hash && block.changes.length > 0)
  }

  /** Adds a block at its place. A block that is there already gets its changes, if they were not known, but no second entry. */
  add(block: FollowedBlock): void {
    const after = this.#blocks.findLastIndex(({ number }) => number <= block.number)
    const isKnown = this.#blocks[after]?.hash === block.hash
    if (isKnown && block.changes.length === 0) return
    this.#blocks.splice(isKnown ? after : after + 1, isKnown ? 1 : 0, block)
    if (this.#blocks.length > this.#maxBlocks) this.#blocks.shift()
  }

  /** Takes the newest block back, and gives it. */
  removeLast(): FollowedBlock | undefined {
    return this.#blocks.pop()
  }
}
