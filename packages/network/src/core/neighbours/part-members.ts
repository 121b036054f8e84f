import { RareMap, type Attach, type GuestAttach, type NodeId } from '@runnel/protocol'

/** A node that may publish to a stream part and not read it: what it sends is accepted, and it is sent nothing. */
export interface Feeder {
  readonly userId: NodeId
  /** When its attach was last answered. */
  readonly answeredMs: number
}

/** Of a neighbour, a feeder or a guest. */
export type AnyAttach = Attach | GuestAttach

/** An attach for which the registry is being asked. */
export interface WaitingAttach {
  readonly userId: NodeId
  readonly packet: AnyAttach
}

export interface PartMembersLimits {
  readonly maxFeeders: number
  readonly maxWaitingAttaches: number
}

/** The peers of one stream part that are not neighbours: feeders, and those that wait for the registry's answer. */
export class PartMembers {
  readonly #limits: PartMembersLimits
  readonly #feeders = new RareMap<NodeId, Feeder>()
  readonly #waiting = new RareMap<NodeId, WaitingAttach>()

  constructor(limits: PartMembersLimits) {
    this.#limits = limits
  }

  get feeders(): ReadonlyMap<NodeId, Feeder> {
    return this.#feeders
  }

  get waiting(): ReadonlyMap<NodeId, WaitingAttach> {
    return this.#waiting
  }

  /** False when there are too many. */
  feed(peerId: NodeId, feeder: Feeder): boolean {
    if (!this.#feeders.has(peerId) && this.#feeders.size >= this.#limits.maxFeeders) return false
    this.#feeders.set(peerId, feeder)
    return true
  }

  /** False when too many wait. */
  wait(peerId: NodeId, attach: WaitingAttach): boolean {
    if (!this.#waiting.has(peerId) && this.#waiting.size >= this.#limits.maxWaitingAttaches) return false
    this.#waiting.set(peerId, attach)
    return true
  }

  answered(peerId: NodeId): void {
    this.#waiting.delete(peerId)
  }

  /** Removes a peer that left or changed its part. True when it was here. */
  delete(peerId: NodeId): boolean {
    const wasWaiting = this.#waiting.delete(peerId)
    return this.#feeders.delete(peerId) || wasWaiting
  }
}

/** Or may only publish. */
export function wantsToRead({ membership }: AnyAttach): boolean {
  return membership?.reads !== false
}
