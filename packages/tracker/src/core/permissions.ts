import {
  scopeOfPart,
  streamOfScope,
  type PermissionScope,
  type Status,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import { Askers, type RegistryQuestion } from './askers.ts'
import type { CoreState } from './core-state.ts'
import type { NodeRecord } from './node-record.ts'
import type { PartFaults } from './part-faults.ts'
import type { PartTable } from './part-table.ts'
import { isCurrent, userOf, type KeptStatus } from './roles.ts'
import type { StreamPart } from './stream-part.ts'

/** Which nodes may be in which stream part, as far as the registry has answered. */
export class Permissions {
  readonly #state: CoreState
  readonly #askers = new Askers()
  readonly #faults: PartFaults
  readonly #partTable: PartTable
  readonly #status: (node: NodeRecord, status: Status) => void

  constructor(
    state: CoreState,
    faults: PartFaults,
    partTable: PartTable,
    status: (node: NodeRecord, status: Status) => void,
  ) {
    this.#state = state
    this.#faults = faults
    this.#partTable = partTable
    this.#status = status
  }

  /** Whether the node may be in the stream part in the role it claims. A member stays until the registry says no. */
  mayTakePart(node: NodeRecord, status: Status): boolean {
    const { streamPartId, membership } = status
    const scope = scopeOfPart(streamPartId)
    this.#state.roles.identify(node, status, this.#state.nowMs)
    const role = this.#state.roles.roleOf(node, scope, membership?.reads ?? true, this.#state.nowMs)
    const part = this.#state.parts.get(streamPartId)
    if (role.kind === 'none') {
      this.#state.roles.keep(node, status)
      // Its registry may be ahead of ours: until then it stays a feeder.
      const feedsOn =
        part?.feeds.has(node.nodeId) && this.#state.roles.roleOf(node, scope, false, this.#state.nowMs)
      if (!feedsOn || feedsOn.kind === 'none') this.#deny(node, streamPartId)
      return false
    }
    if (role.kind === 'unknown') {
      this.#ask(scope, node)
      const isThere =
        membership?.reads === false ? part?.feeds.has(node.nodeId) : part?.members.has(node.nodeId)
      if (isThere) return true
      this.#state.roles.keep(node, status)
      return false
    }
    this.#state.roles.drop(node.nodeId, streamPartId)
    this.#state.permitsEndAtMs = Math.min(this.#state.permitsEndAtMs, role.untilMs)
    return true
  }

  #deny(node: NodeRecord, id: StreamPartId): void {
    this.#state.counters.count('membersDenied')
    const part = this.#state.parts.get(id)
    if (part !== undefined && node.parts.has(part)) this.#faults.within(part, () => part.remove(node.nodeId))
    this.#state.outbox.error(node, 'NOT_PERMITTED', id)
  }

  /** Asks the registry about the user of a node. */
  #ask(scope: PermissionScope, node: NodeRecord): void {
    const { nodeId, network: cause = nodeId, actingFor } = node
    const question = { scope, userId: userOf(node), cause, delegation: actingFor?.delegation }
    this.#askers.add(question, node)
    this.#state.outbox.resolve(question)
  }

  /** The registry was asked. If it gave no answer, it is asked again. */
  userResolved(question: RegistryQuestion, found: boolean): void {
    const { scope } = question
    const streamId = streamOfScope(scope)
    for (const node of this.#askers.take(question)) {
      const kept = this.#state.roles
        .kept(streamId, node.nodeId)
        .filter(({ status }) => scopeOfPart(status.streamPartId) === scope)
      if (found) {
        this.#tryAgain(kept)
        for (const part of this.#partTable.partsOf(streamId))
          if (scopeOfPart(part.id) === scope) this.#faults.within(part, () => this.#checkNode(part, node))
        continue
      }
      this.#state.permitsEndAtMs = Math.min(
        this.#state.permitsEndAtMs,
        this.#state.nowMs + this.#state.limits.registryRetryMs,
      )
      if (!this.#isPresent(node)) continue
      for (const { status } of kept) this.#state.outbox.error(node, 'REGISTRY_SILENT', status.streamPartId)
    }
  }

  /** Lets nodes take part that may now. */
  #tryAgain(kept: readonly KeptStatus[]): void {
    for (const one of kept) {
      const { node, status } = one
      const { streamPartId, membership } = status
      if (!this.#isPresent(node) || !isCurrent(one)) {
        this.#state.roles.drop(node.nodeId, streamPartId)
        continue
      }
      // Letting in one may have let in others.
      if (this.#state.roles.keptIn(node.nodeId, streamPartId) !== one) continue
      const scope = scopeOfPart(streamPartId)
      const role = this.#state.roles.roleOf(node, scope, membership?.reads ?? true, this.#state.nowMs)
      if (role.kind === 'unknown') this.#ask(scope, node)
      else if (role.kind !== 'none') this.#status(node, status)
    }
  }

  #isPresent(node: NodeRecord): boolean {
    return this.#state.nodes.get(node.nodeId) === node && node.connected && !node.refused
  }

  permissionsChanged(streamId: StreamId | undefined): void {
    const parts = streamId === undefined ? [...this.#state.parts.values()] : this.#partTable.partsOf(streamId)
    // Without those that are put out now.
    const kept = this.#keptOf(streamId)
    for (const part of parts) this.#faults.within(part, () => this.#checkMembers(part))
    this.#tryAgain(kept)
  }

  /** A stream may exist that did not; any, when none is given. */
  streamsChanged(streamId: StreamId | undefined): void {
    this.#state.missing.forget(streamId)
    this.tryAgain(streamId)
  }

  /** Lets nodes take part in a stream, or in all, that wait and may now. */
  tryAgain(streamId: StreamId | undefined): void {
    this.#tryAgain(this.#keptOf(streamId))
  }

  #keptOf(streamId: StreamId | undefined): KeptStatus[] {
    const { roles } = this.#state
    return (streamId === undefined ? [...roles.streamIds] : [streamId]).flatMap((id) => roles.kept(id))
  }

  /** Removes nodes that may no longer be there. */
  #checkMembers(part: StreamPart): void {
    for (const nodeId of [...part.members.keys(), ...part.feeds.nodeIds]) {
      const node = this.#state.nodes.get(nodeId)
      if (node !== undefined) this.#checkNode(part, node)
    }
  }

  /** Removes a node that may no longer be there. One whose permission is unknown stays until the registry answers. */
  #checkNode(part: StreamPart, node: NodeRecord): void {
    const reads = part.members.has(node.nodeId)
    if (node.member === undefined || !(reads || part.feeds.has(node.nodeId))) return
    const scope = scopeOfPart(part.id)
    const role = this.#state.roles.roleOf(node, scope, reads, this.#state.nowMs)
    if (role.kind === 'none') {
      this.#partTable.keepStatus(part, node)
      this.#deny(node, part.id)
    } else if (role.kind === 'unknown') this.#ask(scope, node)
    else this.#state.permitsEndAtMs = Math.min(this.#state.permitsEndAtMs, role.untilMs)
  }
}
