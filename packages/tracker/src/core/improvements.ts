import { TokenBucket, type NodeId } from '@runnel/protocol'
import type { Instructions } from './instructions.ts'
import type { Member } from './member.ts'
import type { Overlay } from './overlay.ts'
import type { StreamPartHost } from './stream-part-host.ts'

export interface ImprovementsModules {
  readonly members: ReadonlyMap<NodeId, Member>
  readonly overlay: Overlay
  readonly instructions: Instructions
  readonly host: StreamPartHost
}

/** A stream part tries to improve one node in this many at a time… */
const improvedShare = 8
/** … and one in this many when all were tried this often and nothing was found. */
const restingShare = 128
const roundsBeforeRest = 4
/**
 * Exchanges that a node gets back, up to its burst, when a neighbour has left: what took its place was drawn at random. Without them an overlay of which
 * half was replaced stays worse, as those that stayed have spent theirs.
 */
const exchangesPerLoss = 20

/** Looks for better neighbours for the nodes of an overlay, one after the other. */
export class Improvements {
  /** Members in turn. */
  #walk: Iterator<NodeId> | undefined
  #attemptsInVain = 0
  readonly #modules: ImprovementsModules

  constructor(modules: ImprovementsModules) {
    this.#modules = modules
  }

  /** How many nodes to improve at a time. */
  get due(): number {
    const { size } = this.#modules.overlay.topology
    return Math.ceil(size / (this.#attemptsInVain > roundsBeforeRest * size ? restingShare : improvedShare))
  }

  /** These nodes have other neighbours, as a node has left. */
  lost(ids: Iterable<NodeId>): void {
    for (const id of ids) this.#modules.members.get(id)?.exchanges?.give(exchangesPerLoss)
  }

  /** There may be more to find than before. */
  wake(): void {
    this.#attemptsInVain = 0
  }

  /** Looks for nearer neighbours for the next `count` nodes whose turn it is. */
  improve(count: number, nowMs: number): void {
    const { overlay, instructions, host } = this.#modules
    const { topology } = overlay
    const mayChange = (id: NodeId) => this.#mayExchange(id, nowMs)
    for (let i = 0; i < count; i++) {
      const id = this.#nextInTurn()
      if (id === undefined) return
      const { outcome, changed } = topology.improve(id, mayChange)
      this.#attemptsInVain = outcome === 'improved' ? 0 : this.#attemptsInVain + 1
      if (outcome === 'improved') host.count('edgesExchanged', 2)
      if (outcome === 'disconnecting' || outcome === 'stranding') host.count('exchangesRefused')
      for (const other of changed) this.#exchangesOf(other, nowMs)?.take(nowMs)
      instructions.mark(changed)
    }
  }

  #nextInTurn(): NodeId | undefined {
    let step = this.#walk?.next()
    if (step === undefined || step.done === true) {
      this.#walk = this.#modules.members.keys()
      step = this.#walk.next()
    }
    return step.done === true ? undefined : step.value
  }

  /** Only where all is in place, so that a node never opens more links than one exchange calls for. */
  #mayExchange(id: NodeId, nowMs: number): boolean {
    const { members, instructions, host } = this.#modules
    const member = members.get(id)
    if (member === undefined || member.state !== 'settled' || member.unsure || instructions.isPending(id))
      return false
    return host.isConnected(id) && (this.#exchangesOf(id, nowMs)?.has(nowMs) ?? false)
  }

  #exchangesOf(id: NodeId, nowMs: number): TokenBucket | undefined {
    const { members, host } = this.#modules
    const member = members.get(id)
    const { exchangeBurst: burst, exchangesPerSecond: perSecond } = host.limits
    if (member !== undefined) member.exchanges ??= new TokenBucket({ burst, perSecond }, nowMs)
    return member?.exchanges
  }
}
