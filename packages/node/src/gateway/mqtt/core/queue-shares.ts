import type { MqttLimits } from '../limits.ts'

/** What waits for all clients together, and what became of the rest. */
export interface OutboxTotals {
  queuedBytes: number
  droppedQos0: number
  droppedQos1: number
  expired: number
}

/** The messages that wait for one client. */
export interface SharingQueue {
  /** Of messages that wait, and that are not acknowledged. */
  readonly bytes: number
  /** False where there is nothing that it can do without. */
  dropOldest(): boolean
}

interface AccountShare {
  bytes: number
  /** Those with any bytes: whose turn it is to lose a message first. */
  readonly queues: Set<SharingQueue>
}

/**
 * The bytes that wait for all clients, shared out by account: when there are too many, the account that holds most gives way, so that none
 * keeps the clients of others from queueing (max-min fairness). Of its clients each loses a message in turn.
 */
export class QueueShares {
  readonly totals: OutboxTotals
  readonly #limits: Pick<MqttLimits, 'maxTotalQueuedBytes'>
  readonly #accounts = new Map<string, AccountShare>()

  constructor(limits: Pick<MqttLimits, 'maxTotalQueuedBytes'>, totals: OutboxTotals) {
    this.#limits = limits
    this.totals = totals
  }

  get isFull(): boolean {
    return this.totals.queuedBytes > this.#limits.maxTotalQueuedBytes
  }

  /** The bytes of a queue have changed by so many. */
  count(account: string, queue: SharingQueue, bytes: number): void {
    const share = this.#accounts.get(account) ?? { bytes: 0, queues: new Set() }
    if (share.bytes === 0) this.#accounts.set(account, share)
    this.totals.queuedBytes += bytes
    share.bytes += bytes
    if (queue.bytes === 0) share.queues.delete(queue)
    else share.queues.add(queue)
    if (share.bytes === 0) this.#accounts.delete(account)
  }

  /** Drops from the account that holds most until it is within the limit, or that account can do without nothing more. */
  makeRoom(): void {
    while (this.isFull && dropFrom(this.#heaviest())) continue
  }

  #heaviest(): AccountShare | undefined {
    let heaviest: AccountShare | undefined
    for (const share of this.#accounts.values())
      if (heaviest === undefined || share.bytes > heaviest.bytes) heaviest = share
    return heaviest
  }
}

function dropFrom(share: AccountShare | undefined): boolean {
  const queues = share?.queues ?? new Set()
  for (let left = queues.size; left > 0; left--) {
    const [queue] = queues
    if (queue === undefined) break
    queues.delete(queue)
    queues.add(queue)
    if (queue.dropOldest()) return true
  }
  return false
}
