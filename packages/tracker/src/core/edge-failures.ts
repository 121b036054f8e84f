import { TokenBucket, type NodeId, type Status } from '@runnel/protocol'
import type { Adoption } from './adoption.ts'
import type { Instructions } from './instructions.ts'
import type { Member } from './member.ts'
import type { Overlay } from './overlay.ts'
import type { StreamPartHost } from './stream-part-host.ts'

export interface EdgeFailuresModules {
  readonly members: ReadonlyMap<NodeId, Member>
  readonly overlay: Overlay
  readonly adoption: Adoption
  readonly instructions: Instructions
  readonly host: StreamPartHost
  /** Takes a node out of the stream part. */
  remove(nodeId: NodeId): void
}

/** Reports of a lost node that are sufficient while its connection to the tracker is lost too. */
const lostQuorum = 2

/** Handles edges that nodes report as failed. */
export class EdgeFailures {
  readonly #modules: EdgeFailuresModules

  constructor(modules: EdgeFailuresModules) {
    this.#modules = modules
  }

  /** Replaces the edges of the overlay that a status says failed. */
  report(member: Member, status: Status, nowMs: number): void {
    for (const { nodeId } of status.failed) {
      const neighbour = this.#modules.members.get(nodeId)
      if (neighbour === undefined || !this.#modules.overlay.topology.hasEdge(member.nodeId, nodeId)) continue
      if (!this.#mayFail(member, nowMs)) this.#modules.host.count('edgeFailuresIgnored')
      else if (this.#modules.host.isConnected(nodeId)) this.fail(member.nodeId, nodeId)
      else this.#lost(neighbour, member.nodeId)
    }
  }

  /** Temporary edges that cannot be opened. */
  reportTemporary(member: Member, status: Status, nowMs: number): void {
    for (const { nodeId } of status.failed) {
      if (!this.#modules.adoption.temporaryNeighbours(member.nodeId).has(nodeId)) continue
      if (!this.#mayFail(member, nowMs)) {
        this.#modules.host.count('edgeFailuresIgnored')
        continue
      }
      this.#modules.adoption.part(member.nodeId, nodeId)
      this.#modules.host.avoid(member.nodeId, nodeId)
      this.#modules.instructions.mark([member.nodeId, nodeId])
    }
  }

  #mayFail(member: Member, nowMs: number): boolean {
    const { edgeFailureBurst: burst, edgeFailuresPerSecond: perSecond } = this.#modules.host.limits
    member.edgeFailures ??= new TokenBucket({ burst, perSecond }, nowMs)
    return member.edgeFailures.take(nowMs)
  }

  fail(a: NodeId, b: NodeId): void {
    if (!this.#modules.overlay.topology.hasEdge(a, b)) return
    this.#modules.host.avoid(a, b)
    this.#modules.instructions.mark(this.#modules.overlay.topology.failEdge(a, b))
    this.#modules.host.count('edgesFailed')
  }

  /** A neighbour lost a node that the tracker lost too. One may lie; when more report it, the node is removed early. */
  #lost(member: Member, by: NodeId): void {
    member.lostBy.add(by)
    const neighbours = this.#modules.overlay.topology.neighbours(member.nodeId)
    const reports = [...member.lostBy].filter((id) => neighbours.has(id)).length
    if (reports < Math.min(lostQuorum, neighbours.size)) return
    this.#modules.host.count('disconnected')
    this.#modules.remove(member.nodeId)
  }
}
