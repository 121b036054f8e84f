import {
  RareMap,
  type DelegationRef,
  type MessageRef,
  type NodeId,
  type UrgentMessage,
} from '@runnel/protocol'

import { urgentPlaceKey } from './urgent-chains.ts'

export interface KeptUrgentLimits {
  readonly maxUrgentKeptMs: number
  readonly maxUrgentKeptBytes: number
}

/** A message is asked for of one neighbour, and sent to one, so many times: its answer may be lost like the first copy. */
export const urgentPullTimes = 2

/** An urgent message of which a neighbour was told in place of a copy. */
export interface KeptUrgentMessage {
  readonly urgent: UrgentMessage
  readonly delegationRef: DelegationRef | undefined
  /** To whom it was sent since, and how often. */
  readonly sentTo: Map<NodeId, number>
  readonly untilMs: number
}

/** The urgent messages that neighbours may ask for, until their time is over, and not for long in any case: a bounded number of bytes. */
export class KeptUrgent {
  readonly #limits: KeptUrgentLimits
  /** The oldest first. */
  readonly #messages = new RareMap<string, KeptUrgentMessage>()
  #bytes = 0

  constructor(limits: KeptUrgentLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#messages.size
  }

  keep(
    place: MessageRef,
    urgent: UrgentMessage,
    delegationRef: DelegationRef | undefined,
    nowMs: number,
  ): void {
    const key = urgentPlaceKey(urgent.chain, place)
    if (this.#messages.has(key)) return
    const untilMs = Math.min(urgent.deadlineMs, nowMs + this.#limits.maxUrgentKeptMs)
    this.#messages.set(key, { urgent, delegationRef, sentTo: new Map(), untilMs })
    this.#bytes += urgent.batchBytes.length
    this.#forgetLate(nowMs)
    while (this.#bytes > this.#limits.maxUrgentKeptBytes) this.#forgetOldestOf(this.#heaviest())
  }

  /** Undefined when it is kept no longer. */
  find(chain: string, place: MessageRef, nowMs: number): KeptUrgentMessage | undefined {
    const kept = this.#messages.get(urgentPlaceKey(chain, place))
    return kept !== undefined && kept.untilMs > nowMs ? kept : undefined
  }

  /** Forgets what is late, or what `isGone` is true of. */
  sweep(nowMs: number, isGone: (chain: string) => boolean = () => false): void {
    for (const [key, { urgent, untilMs }] of this.#messages)
      if (untilMs <= nowMs || isGone(urgent.chain)) this.#forget(key)
  }

  /** The oldest that are late: what lives longer is kept behind others for `maxUrgentKeptMs` at most. */
  #forgetLate(nowMs: number): void {
    for (const [key, { untilMs }] of this.#messages) {
      if (untilMs > nowMs) return
      this.#forget(key)
    }
  }

  #heaviest(): string {
    const bytes = new Map<string, number>()
    for (const { urgent } of this.#messages.values())
      bytes.set(urgent.publisher, (bytes.get(urgent.publisher) ?? 0) + urgent.batchBytes.length)
    return [...bytes].reduce((most, other) => (other[1] > most[1] ? other : most))[0]
  }

  #forgetOldestOf(publisher: string): void {
    for (const [key, { urgent }] of this.#messages)
      if (urgent.publisher === publisher) return this.#forget(key)
  }

  #forget(key: string): void {
    this.#bytes -= this.#messages.get(key)?.urgent.batchBytes.length ?? 0
    this.#messages.delete(key)
  }
}
