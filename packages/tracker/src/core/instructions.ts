import {
  limits as wireLimits,
  type Contact,
  type Instruction,
  type NodeId,
  type Status,
} from '@runnel/protocol'
import type { Adoption } from './adoption.ts'
import type { Member } from './member.ts'
import type { Overlay } from './overlay.ts'
import type { StreamPartHost } from './stream-part-host.ts'

export interface InstructionsModules {
  readonly members: ReadonlyMap<NodeId, Member>
  readonly overlay: Overlay
  readonly adoption: Adoption
  readonly host: StreamPartHost
}

/** For a neighbour that a node has, and that has not reported here yet: nobody can dial it. */
const unknownContact: Contact = { addresses: [], dials: [] }

/**
 * What each node in a stream part was told, whether it has answered, and which nodes have to be told. Instructions wait for
 * `flush`.
 */
export class Instructions {
  readonly #changed = new Set<NodeId>()
  readonly #modules: InstructionsModules

  constructor(modules: InstructionsModules) {
    this.#modules = modules
  }

  /** Whether any node's neighbours may have changed since it was told. */
  get arePending(): boolean {
    return this.#changed.size > 0
  }

  isPending(id: NodeId): boolean {
    return this.#changed.has(id)
  }

  /** The neighbours of these nodes may have changed. */
  mark(ids: Iterable<NodeId>): void {
    for (const id of ids) this.#changed.add(id)
  }

  /** The node has to be told its neighbours again, even if they have not changed. */
  tellAgain(nodeId: NodeId): void {
    const member = this.#modules.members.get(nodeId)
    if (member === undefined) return
    member.mustTell = true
    this.#changed.add(nodeId)
  }

  forget(nodeId: NodeId): void {
    this.#changed.delete(nodeId)
  }

  clear(): void {
    this.#changed.clear()
  }

  /** Tells every node whose neighbours have changed since it was last told. True when there were any. */
  flush(): boolean {
    const due = this.#due()
    this.#changed.clear()
    this.#giveOpenOffers(due)
    let told = false
    for (const member of due.values()) if (this.#tell(member)) told = true
    return told
  }

  /** Sends the newest instruction again. */
  resend(member: Member): void {
    this.#modules.host.instruct(member, this.#instruction(member))
  }

  /** A status of a node in the overlay says which instruction it has applied. */
  acknowledge(member: Member, { counter, neighbours }: Status): void {
    const { host } = this.#modules
    member.counter = Math.max(member.counter, counter)
    // A higher counter is another tracker's, or from the node's earlier time in this stream part: ours has to be higher.
    if (counter > member.toldCounter || (member.unsure && counter < member.toldCounter)) {
      this.tellAgain(member.nodeId)
    } else if (counter < member.toldCounter) {
      host.count('staleStatuses')
    } else {
      if (member.unsure) this.#changed.add(member.nodeId)
      const attached = new Set(neighbours.map(({ nodeId }) => nodeId))
      member.step([...member.told].every((id) => attached.has(id)) ? 'attached' : 'partlyAttached')
      host.settle(member)
    }
  }

  /** Those of `changed` that can be told; others that are not connected may have missed something. */
  #due(): ReadonlyMap<NodeId, Member> {
    const { members, adoption, host } = this.#modules
    const due = new Map<NodeId, Member>()
    for (const id of this.#changed) {
      const member = members.get(id)
      if (member === undefined || member.state === 'expected') continue
      if (adoption.has(id) && !adoption.hasTemporaryEdges(id) && member.toldCounter === 0) continue
      if (!host.isConnected(id)) member.unsure = true
      else due.set(id, member)
    }
    return due
  }

  /** Each open offer goes to the first for which it is of use, of those that are told of its node now as the node is told of them. */
  #giveOpenOffers(due: ReadonlyMap<NodeId, Member>): void {
    const { host } = this.#modules
    for (const id of due.keys()) {
      if (!host.hasOpenOffer(id)) continue
      for (const other of this.#wantedBy(id)) if (due.has(other) && host.giveOpenOffer(id, other)) break
    }
  }

  #tell(member: Member): boolean {
    const wanted = this.#wantedBy(member.nodeId)
    if (!member.mustTell && sameSet(member.told, wanted)) return false
    for (const id of member.told) if (!wanted.has(id)) this.#modules.host.permitSignals(member.nodeId, id)
    member.counter++
    member.told = wanted
    member.mustTell = false
    member.toldCounter = member.counter
    member.resends = 0
    member.step('instructed')
    this.#modules.host.instruct(member, this.#instruction(member))
    return true
  }

  /**
   * A node's wanted neighbours. Until its overlay is taken over, these are its temporary edges, and the neighbours that claim
   * it as it claims them.
   */
  #wantedBy(id: NodeId): ReadonlySet<NodeId> {
    const { overlay, adoption } = this.#modules
    const isMutual = (other: NodeId) => adoption.claimedBy(other).has(id)
    const wanted = adoption.has(id)
      ? [...adoption.claimedBy(id)].filter(isMutual)
      : overlay.topology.neighbours(id)
    return new Set([...wanted, ...adoption.temporaryNeighbours(id)])
  }

  #instruction({ streamPartId, nodeId: id, told, toldCounter }: Member): Instruction {
    const { adoption, host } = this.#modules
    const neighbours = [...told].flatMap((nodeId) => {
      const contact = host.contactOf(nodeId)
      return contact === undefined ? [] : [{ nodeId, contact }]
    })
    // If only it makes the claim, it may keep what it has, and learns nothing.
    for (const nodeId of adoption.claimedBy(id))
      if (!told.has(nodeId)) neighbours.push({ nodeId, contact: unknownContact })
    neighbours.length = Math.min(neighbours.length, wireLimits.maxNeighbours)
    return { type: 'instruction', streamPartId, counter: toldCounter, neighbours }
  }
}

function sameSet(a: ReadonlySet<NodeId>, b: ReadonlySet<NodeId>): boolean {
  return a.size === b.size && [...a].every((id) => b.has(id))
}
