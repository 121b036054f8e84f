import { Shares, type NodeId } from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { StreamPart } from './stream-part.ts'

export interface PartPlacesModules {
  /** The network a node comes from. */
  networkOf(id: NodeId): string
}

/** How many stream parts are moved to another network that keeps them alive before one is given up. */
const maxMoves = 64

/**
 * The places for stream parts, shared out by the networks that keep them alive: at first that of the node that came first. A
 * stream part that would be given up because of its network is charged to a lighter network instead, if one of its nodes comes
 * from there: so nobody loses a stream part because others in it hold many.
 */
export class PartPlaces {
  readonly #limits: Pick<TrackerLimits, 'maxPartPayersTried'>
  readonly #modules: PartPlacesModules
  readonly #shares: Shares<StreamPart>
  readonly #payers = new Map<StreamPart, string>()

  constructor(
    limits: Pick<TrackerLimits, 'maxStreamParts' | 'maxPartPayersTried'>,
    modules: PartPlacesModules,
  ) {
    this.#limits = limits
    this.#modules = modules
    this.#shares = new Shares({ max: limits.maxStreamParts, evict: 'newest' })
  }

  /** Takes a place for a new stream part. Returns the one that lost its place, possibly the new one. */
  add(part: StreamPart, network: string): StreamPart | undefined {
    let victim = this.#charge(part, network)
    for (let moves = 0; victim !== undefined && victim !== part && moves < maxMoves; moves++) {
      const lighter = this.#lighterNetworkOf(victim)
      if (lighter === undefined) break
      victim = this.#charge(victim, lighter)
    }
    if (victim !== undefined) this.#payers.delete(victim)
    return victim
  }

  delete(part: StreamPart): void {
    this.#shares.delete(part)
    this.#payers.delete(part)
  }

  #charge(part: StreamPart, network: string): StreamPart | undefined {
    this.#payers.set(part, network)
    return this.#shares.add(part, network)[0]
  }

  /**
   * Searches some nodes of a stream part that has just lost its place for a network that is lighter with it than its own
   * is without.
   */
  #lighterNetworkOf(part: StreamPart): string | undefined {
    let lightest: string | undefined
    let held = this.#shares.heldBy(this.#payers.get(part) ?? '')
    let tries = this.#limits.maxPartPayersTried
    for (const nodeId of part.members.keys()) {
      if (tries-- === 0) break
      const network = this.#modules.networkOf(nodeId)
      if (this.#shares.heldBy(network) >= held) continue
      lightest = network
      held = this.#shares.heldBy(network)
    }
    return lightest
  }
}
