import type { NodeId, StreamPartId } from '@runnel/protocol'
import { DelayQueue } from '../../core/timing/delay-queue.ts'

type Departure = `${NodeId} ${StreamPartId}`

/** Nodes that said they leave a stream part, and may only be going home with it: that is believed after a while. */
export class Departures {
  readonly #queue: DelayQueue<Departure>

  constructor(delayMs: number) {
    this.#queue = new DelayQueue(delayMs)
  }

  /** When the next is to be believed; undefined when nobody leaves. */
  get nextAt(): number | undefined {
    return this.#queue.nextAt
  }

  add(nodeId: NodeId, id: StreamPartId, now: number): void {
    this.#queue.add(`${nodeId} ${id}`, now)
  }

  /** It stays, or is gone already. True when it was about to leave. */
  delete(nodeId: NodeId, id: StreamPartId): boolean {
    return this.#queue.delete(`${nodeId} ${id}`)
  }

  takeDue(now: number): { readonly nodeId: NodeId; readonly id: StreamPartId } | undefined {
    const key = this.#queue.takeDue(now)
    if (key === undefined) return undefined
    const [nodeId, id] = key.split(' ') as [NodeId, StreamPartId]
    return { nodeId, id }
  }
}
