import type { NodeId, StreamPartId } from '@runnel/protocol'
import { CoreState, type TrackerCoreModules, type TrackerCoreOptions } from './core-state.ts'
import type { Counters } from './counters.ts'
import type { NodeRecord } from './node-record.ts'
import { NodeTable } from './node-table.ts'
import { Packets } from './packets.ts'
import { PartFaults } from './part-faults.ts'
import { createPartHost } from './part-host.ts'
import { PartTable } from './part-table.ts'
import { Permissions } from './permissions.ts'
import type { Replica } from './replica.ts'
import { due } from './schedule.ts'
import type { StorageDirectory } from './storage-directory.ts'
import type { StreamPart } from './stream-part.ts'
import type { NodeToTracker, TrackerEffect, TrackerEvent, TrackerFault } from './tracker-events.ts'

export type { TrackerCoreOptions } from './core-state.ts'
export type * from './tracker-events.ts'

type EventHandlers = {
  readonly [Type in TrackerEvent['type']]: (event: Extract<TrackerEvent, { type: Type }>) => void
}

/**
 * All decisions of a tracker: which node is in which overlay, what each is told, which signals are relayed. Events and the
 * monotonic time in milliseconds come in, and effects go out.
 *
 * Read `StreamPart` next, which holds one overlay. This class holds the nodes, their limits, who stores what, and the timers.
 */
export class TrackerCore {
  /** Called with every stream part that an event may have changed, once per event. */
  onTouched: (id: StreamPartId) => void = () => {}
  /** Called with every stream part that gets its first node. */
  onNewStreamPart: (id: StreamPartId) => void = () => {}
  /** Called for every stream part that gets its first node: what its last leader has left, if it is here. */
  replicaOf: (id: StreamPartId) => Replica | undefined = () => undefined
  /** Called with every fault, which has ended some work and nothing else. Without a listener, it is thrown. */
  onFault: (fault: TrackerFault) => void = ({ error }) => {
    throw error
  }
  readonly #state: CoreState
  readonly #faults: PartFaults
  readonly #nodeTable: NodeTable
  readonly #partTable: PartTable
  readonly #permissions: Permissions
  readonly #packets: Packets
  readonly #handlers: EventHandlers = {
    nodeConnected: ({ nodeId, network, actingFor }) => this.#nodeTable.connected(nodeId, network, actingFor),
    credentialRenewed: ({ nodeId, actingFor }) => this.#nodeTable.credentialRenewed(nodeId, actingFor),
    nodeDisconnected: ({ nodeId }) => this.#nodeTable.disconnect(nodeId),
    nodeExpelled: ({ nodeId }) => this.#nodeTable.expel(nodeId),
    packet: (event) => this.#packets.packet(event),
    handOver: ({ streamPartId, leaderId }) => this.#partTable.handOver(streamPartId, leaderId),
    replica: ({ streamPartId, replica }) => this.#partTable.expect(streamPartId, replica),
    overlay: ({ streamId, overlay }) => this.#partTable.choose(streamId, overlay),
    streamMissing: ({ streamId }) => this.#partTable.streamMissing(streamId),
    streamsChanged: ({ streamId }) => this.#permissions.streamsChanged(streamId),
    userResolved: ({ found, ...question }) => this.#permissions.userResolved(question, found),
    permissionsChanged: ({ streamId }) => this.#permissions.permissionsChanged(streamId),
    stalled: () => this.#nodeTable.forgetAll(),
    partFault: ({ streamPartId, error }) => this.#faults.partFault(streamPartId, error),
    tick: () => this.#tick(),
  }

  constructor(options: TrackerCoreOptions, modules: TrackerCoreModules) {
    const state = new CoreState(options, modules, {
      onTouched: (id) => this.onTouched(id),
      onNewStreamPart: (id) => this.onNewStreamPart(id),
      replicaOf: (id) => this.replicaOf(id),
      onFault: (fault) => this.onFault(fault),
    })
    this.#state = state
    this.#faults = new PartFaults(state)
    this.#nodeTable = new NodeTable(state, this.#faults)
    this.#partTable = new PartTable(state, this.#faults, createPartHost(state, this.#nodeTable))
    this.#permissions = new Permissions(state, this.#faults, this.#partTable, (node, status) =>
      this.#packets.status(node, status),
    )
    this.#packets = new Packets(state, this.#faults, this.#partTable, this.#permissions)
  }

  get counters(): Counters {
    return this.#state.counters
  }

  get nodes(): ReadonlyMap<NodeId, NodeRecord> {
    return this.#state.nodes
  }

  get streamParts(): ReadonlyMap<StreamPartId, StreamPart> {
    return this.#state.parts
  }

  /** Whether this tracker leads a stream part, which may be one that rests after a fault. */
  leads(id: StreamPartId): boolean {
    return this.#state.parts.has(id) || this.#state.resting.has(id)
  }

  /** All that it leads, and those that it would lead as soon as the registry lets in a node that waits here. */
  ledParts(): readonly StreamPartId[] {
    const { parts, resting, roles } = this.#state
    return [...new Set([...parts.keys(), ...resting.ids, ...roles.streamPartIds])]
  }

  /** Which nodes say that they store a stream part. */
  get storage(): Pick<StorageDirectory, 'count' | 'nodes'> {
    return this.#state.storage
  }

  /** When a tick is due; Infinity when nothing is waited for. */
  get dueMs(): number {
    return this.#state.dueMs
  }

  handle(event: TrackerEvent, nowMs: number): TrackerEffect[] {
    this.#state.nowMs = nowMs
    const effects = this.#state.outbox.begin(nowMs)
    try {
      const handler = this.#handlers[event.type] as (event: TrackerEvent) => void
      handler(event)
    } catch (error) {
      this.#faults.eventFailed(event, error)
    }
    this.#partTable.settleTouched()
    return effects
  }

  /**
   * Charges a node for a packet before it is handled, even if another tracker leads the stream part. Returns the effects when
   * the node has exceeded its rate; undefined when it has not, and the packet may be handled with `isPaid`.
   */
  charge(from: NodeId, packet: NodeToTracker, nowMs: number): TrackerEffect[] | undefined {
    this.#state.nowMs = nowMs
    const effects = this.#state.outbox.begin(nowMs)
    const node = this.#state.nodes.get(from)
    if (node === undefined || !node.connected || node.refused) return effects
    return this.#packets.pays(node, packet) ? undefined : effects
  }

  #tick(): void {
    if (this.#state.takePermitsDue()) this.#permissions.permissionsChanged(undefined)
    for (const id of this.#state.resting.due(this.#state.nowMs)) this.#packets.buildAnew(id)
    for (const part of due(this.#state.schedule.temporaryEdges, this.#state.nowMs))
      this.#faults.within(part, () => this.#partTable.addTemporaryEdges(part))
    for (const part of due(this.#state.schedule.adopt, this.#state.nowMs))
      this.#faults.within(part, () => this.#partTable.adopt(part))
    for (const part of due(this.#state.schedule.quiet, this.#state.nowMs)) this.#state.touched.add(part)
    for (const node of due(this.#state.schedule.silent, this.#state.nowMs)) {
      this.#state.counters.count('nodesWithoutInfo')
      this.#state.outbox.refuse(node, 'NODE_INFO_MISSING')
    }
    for (const node of due(this.#state.schedule.idle, this.#state.nowMs)) this.#nodeTable.letGoIdle(node)
    for (const node of due(this.#state.schedule.openOffers, this.#state.nowMs))
      this.#state.openOffers.drop(node)
    for (const node of due(this.#state.schedule.disconnected, this.#state.nowMs)) {
      this.#state.counters.count('disconnected', node.parts.size)
      this.#nodeTable.takeOut(node)
    }
    for (const node of due(this.#state.schedule.confirm, this.#state.nowMs)) {
      this.#state.counters.count('unconfirmed', node.unconfirmed.size)
      for (const part of node.unconfirmed) this.#faults.within(part, () => part.remove(node.nodeId))
      if (!node.connected && !this.#state.schedule.disconnected.has(node)) this.#nodeTable.forget(node)
    }
    for (const member of due(this.#state.schedule.resend, this.#state.nowMs)) this.#partTable.resend(member)
    this.#state.improver.improve(this.#state.nowMs, (part, improve) => {
      this.#faults.within(part, () => {
        improve()
        this.#state.touched.add(part)
      })
    })
  }
}
