import type { NodeId, Status } from '@runnel/protocol'
import type { Adoption } from './adoption.ts'
import type { EdgeFailures } from './edge-failures.ts'
import type { Feeds } from './feeds.ts'
import type { Instructions } from './instructions.ts'
import type { MemberAction } from './member-states.ts'
import type { Member } from './member.ts'
import type { Overlay } from './overlay.ts'
import type { StreamPartHost } from './stream-part-host.ts'
import { Takeovers } from './takeovers.ts'

export interface MemberReportsModules {
  readonly overlay: Overlay
  readonly adoption: Adoption
  readonly instructions: Instructions
  readonly failures: EdgeFailures
  readonly feeds: Feeds
  readonly host: StreamPartHost
}

type Action = (member: Member, status: Status, nowMs: number) => void

/** Handles the status of a member: the actions of the table in `member-states.ts`. */
export class MemberReports {
  readonly #modules: MemberReportsModules
  readonly #takeovers: Takeovers
  readonly #actions: Record<MemberAction, Action> = {
    join: ({ nodeId }) => this.#modules.instructions.mark(this.#modules.overlay.topology.add(nodeId)),
    gather: (member, status, nowMs) => {
      this.#claim(member, status)
      this.#modules.failures.reportTemporary(member, status, nowMs)
    },
    withdraw: (member, status) => {
      this.#modules.instructions.mark(this.#modules.overlay.topology.remove(member.nodeId))
      this.#claim(member, status)
    },
    confirm: (member, status, nowMs) => {
      this.#confirm(member, status)
      this.#modules.failures.report(member, status, nowMs)
    },
    acknowledge: (member, status, nowMs) => {
      this.#acknowledge(member, status)
      this.#modules.failures.report(member, status, nowMs)
    },
  }

  constructor(modules: MemberReportsModules) {
    this.#modules = modules
    this.#takeovers = new Takeovers(modules.host.limits)
  }

  /** A status of a node that is among the members. */
  handle(member: Member, status: Status, nowMs: number): void {
    const isClaim = this.#isClaim(member, status, nowMs)
    const { action } = member.step(isClaim ? 'claim' : 'report')
    if (action !== undefined) this.#actions[action](member, status, nowMs)
  }

  /** Whether an overlay is to be taken over from a status: that of a newcomer, or of who was taken for one. */
  #isClaim({ state, unsure, toldCounter, nodeId }: Member, status: Status, nowMs: number): boolean {
    if (state === 'absent')
      return (
        (this.#claimsOthers(status) && this.#mayClaim(nodeId, nowMs)) || this.#modules.adoption.holdsNewcomers
      )
    // It came before the others of its overlay: their earlier reports of it were older, and it has applied no instruction.
    if (state !== 'joined' || !(unsure || status.counter > toldCounter)) return false
    return this.#claimsOthers(status) && this.#mayClaim(nodeId, nowMs)
  }

  /** Where there is an overlay already the nodes of one network have others taken over only now and then: they may be made up. */
  #mayClaim(nodeId: NodeId, nowMs: number): boolean {
    if (this.#modules.adoption.isPending || this.#modules.overlay.topology.size === 0) return true
    if (this.#takeovers.take(this.#modules.host.networkOf(nodeId) ?? '', nowMs)) return true
    this.#modules.host.count('claimsIgnored')
    return false
  }

  /** Whether a node has neighbours that are not here, or not yet: then there is an overlay to be taken over. */
  #claimsOthers(status: Status): boolean {
    return status.neighbours.some(({ nodeId }) => !this.#modules.overlay.topology.has(nodeId))
  }

  #claim(member: Member, status: Status): void {
    const { nodeId } = member
    const { counter } = status
    member.counter = Math.max(member.counter, counter)
    const neighbours = new Set(status.neighbours.map((neighbour) => neighbour.nodeId))
    if (!this.#modules.adoption.claim(nodeId, counter, neighbours)) this.#modules.host.count('staleStatuses')
    // It was told of nothing but temporary edges.
    if (counter >= member.toldCounter) this.#modules.host.settle(member)
    else if (member.unsure) this.#modules.instructions.tellAgain(nodeId)
    this.#isBack(member)
  }

  /** A node of the replica reports. */
  #confirm(member: Member, status: Status): void {
    this.#isBack(member)
    member.counter = Math.max(member.counter, status.counter)
    this.#modules.feeds.memberAdded(member.nodeId)
    this.#modules.host.count('joins')
    this.#modules.instructions.mark([member.nodeId])
  }

  #acknowledge(member: Member, status: Status): void {
    this.#modules.instructions.acknowledge(member, status)
    if (member.unsure) this.#isBack(member)
  }

  /** Neighbours that lost it meanwhile are its neighbours no more; if it is lost again, what they said says nothing of that. */
  #isBack(member: Member): void {
    member.unsure = false
    for (const neighbour of member.lostBy) this.#modules.failures.fail(neighbour, member.nodeId)
    member.lostBy.clear()
  }
}
