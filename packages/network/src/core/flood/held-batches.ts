import type { MessageBatch, MessageRef, NodeId, StreamId } from '@runnel/protocol'
import type { Counters } from '../counters.ts'

export interface HeldBatchesLimits {
  readonly maxHeldBatches: number
  readonly maxHeldBytes: number
  readonly maxHeldPublishers: number
}

/** A batch with a good signature whose publisher is not known to be allowed yet. */
export interface HeldBatch {
  readonly batch: MessageBatch
  readonly packet: Uint8Array
  readonly from: NodeId | undefined
}

/** What waits for a registry's answer, by stream and publisher. */
export class HeldBatches {
  readonly #limits: HeldBatchesLimits
  readonly #counters: Counters
  readonly #streams = new Map<StreamId, Map<NodeId, HeldBatch[]>>()
  #publishers = 0
  #batches = 0
  #bytes = 0

  constructor(limits: HeldBatchesLimits, counters: Counters) {
    this.#limits = limits
    this.#counters = counters
  }

  get batches(): number {
    return this.#batches
  }

  /** `ask` when it is the first of its publisher, so that somebody finds out; `refused` when a limit is reached. */
  hold(held: HeldBatch): 'ask' | 'waiting' | 'refused' {
    const { streamId, publisherId } = held.batch.chain
    const known = this.#streams.get(streamId)?.get(publisherId)
    if (known?.some(({ batch }) => isSame(batch, held.batch)) === true) {
      this.#counters['held.duplicates']++
      return 'waiting'
    }
    if (this.#isFull(held, known === undefined)) {
      this.#counters['held.refused']++
      return 'refused'
    }
    this.#batches++
    this.#bytes += held.packet.length
    this.#counters['held.batches']++
    if (known !== undefined) {
      known.push(held)
      return 'waiting'
    }
    this.#publishers++
    const publishers = this.#streams.get(streamId) ?? new Map<NodeId, HeldBatch[]>()
    publishers.set(publisherId, [held])
    this.#streams.set(streamId, publishers)
    return 'ask'
  }

  /** All that waited for this publisher, oldest first; they are no longer held. */
  release(streamId: StreamId, publisherId: NodeId): readonly HeldBatch[] {
    const publishers = this.#streams.get(streamId)
    const released = publishers?.get(publisherId)
    if (publishers === undefined || released === undefined) return []
    publishers.delete(publisherId)
    if (publishers.size === 0) this.#streams.delete(streamId)
    this.#publishers--
    this.#batches -= released.length
    for (const { packet } of released) this.#bytes -= packet.length
    return released
  }

  #isFull(held: HeldBatch, newPublisher: boolean): boolean {
    return (
      this.#batches >= this.#limits.maxHeldBatches ||
      this.#bytes + held.packet.length > this.#limits.maxHeldBytes ||
      (newPublisher && this.#publishers >= this.#limits.maxHeldPublishers)
    )
  }
}

function isSame(a: MessageBatch, b: MessageBatch): boolean {
  const [first, second] = [a.messages.at(-1), b.messages.at(-1)]
  return (
    a.chain.messageChainId === b.chain.messageChainId &&
    a.chain.partition === b.chain.partition &&
    first !== undefined &&
    second !== undefined &&
    isSamePlace(first, second)
  )
}

function isSamePlace(a: MessageRef, b: MessageRef): boolean {
  return a.timestamp === b.timestamp && a.sequenceNumber === b.sequenceNumber
}
