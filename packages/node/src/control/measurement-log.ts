import type { Trace } from '@runnel/network'
import type { MessageBatch, NodeId } from '@runnel/protocol'

/** Messages remembered of one experiment; further ones are counted as dropped. */
export const maxMeasuredMessages = 200_000

/** One message as this node saw it. */
export interface MeasuredMessage {
  readonly publisherId: NodeId
  readonly timestamp: number
  readonly sequenceNumber: number
  /** Since it was published, by the clocks of the links it took; null of one that came without a trace. */
  readonly ageMs: number | null
  /** Since its timestamp, by the wall clocks of publisher and receiver, whole milliseconds. */
  readonly wallAgeMs: number
  /** Links it took; 0 for the node's own, null without a trace. */
  readonly hops: number | null
  /** Duplicate copies received. */
  readonly duplicates: number
}

/** Remembers each message of the streams of an experiment: when it came, how far, and how often again. */
export class MeasurementLog {
  readonly #messages = new Map<string, MeasuredMessage & { duplicates: number }>()
  #dropped = 0

  /** Messages that were one too many. */
  get dropped(): number {
    return this.#dropped
  }

  get messages(): readonly MeasuredMessage[] {
    return [...this.#messages.values()]
  }

  accepted(batch: MessageBatch, trace: Trace | undefined, nowMs: number): void {
    const { publisherId } = batch.chain
    for (const { timestamp, sequenceNumber } of batch.messages) {
      const key = keyOf(batch, timestamp, sequenceNumber)
      const known = this.#messages.get(key)
      if (known !== undefined) known.duplicates++
      else if (this.#messages.size >= maxMeasuredMessages) this.#dropped++
      else {
        this.#messages.set(key, {
          ...{ publisherId, timestamp, sequenceNumber },
          ageMs: trace?.ageMs ?? null,
          wallAgeMs: nowMs - timestamp,
          hops: trace?.hops ?? null,
          duplicates: 0,
        })
      }
    }
  }

  duplicate(batch: MessageBatch): void {
    for (const { timestamp, sequenceNumber } of batch.messages) {
      const known = this.#messages.get(keyOf(batch, timestamp, sequenceNumber))
      if (known !== undefined) known.duplicates++
    }
  }

  clear(): void {
    this.#messages.clear()
    this.#dropped = 0
  }
}

function keyOf({ chain }: MessageBatch, timestamp: number, sequenceNumber: number): string {
  return `${chain.publisherId} ${chain.messageChainId} ${timestamp} ${sequenceNumber}`
}
