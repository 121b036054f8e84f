import type { NodeId, Signal } from '@runnel/protocol'

/** An offer that a node left for a neighbour that it is yet to be told of. */
export interface OpenOffer {
  readonly sessionId: number
  /** The offer and its candidates so far; empty when it is taken. */
  readonly signals: readonly Signal[]
  /** The neighbour that has it; undefined while nobody has. */
  readonly takenBy: NodeId | undefined
}
