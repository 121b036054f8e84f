import type { MessageRef, NodeId } from '@runnel/protocol'

/** Batches whose copies are counted when they come. */
const countedBatches = 32

const keyOf = ({ timestamp, sequenceNumber }: MessageRef): string => `${timestamp}.${sequenceNumber}`

/** Who brought the last batches of a chain, in order; undefined is this process. */
export class BatchCopies {
  readonly #brought = new Map<string, (NodeId | undefined)[]>()

  first(place: MessageRef, from: NodeId | undefined): void {
    this.#brought.set(keyOf(place), [from])
    if (this.#brought.size <= countedBatches) return
    for (const oldest of this.#brought.keys()) return void this.#brought.delete(oldest)
  }

  /** Who brought it before; undefined where this one did, or the batch is an old one. */
  again(place: MessageRef, from: NodeId): readonly (NodeId | undefined)[] | undefined {
    const brought = this.#brought.get(keyOf(place))
    if (brought === undefined || brought.includes(from)) return undefined
    const before = [...brought]
    brought.push(from)
    return before
  }
}
