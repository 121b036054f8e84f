import {
  Alarm,
  decodePacketOf,
  encodePacket,
  guardedClock,
  isRunnelError,
  networkOf,
  packetKind,
  protocolErrors,
  type Clock,
  type Crypto,
  type NodeAdmission,
  type NodeId,
  type NodeInfo,
  type PublisherPolicy,
  type ReaderPolicy,
  type Status,
  type StreamPartId,
  type TrackerToNode,
} from '@runnel/protocol'
import type { Connection, Transport } from '@runnel/transport'
import { RelayedConnection } from '../cluster/relay-server.ts'
import type {
  NodeToTracker,
  TrackerCore,
  TrackerEffect,
  TrackerEvent,
  TrackerFault,
} from '../core/tracker-core.ts'
import { trackerErrors, type TrackerErrorCode } from '../errors.ts'
import type { IceServerSource } from '../ice/ice-server-source.ts'
import { silentLogger, type TrackerLogger } from '../logger.ts'
import { IceLeases } from './ice-leases.ts'
import { NodeConnections } from './node-connections.ts'
import { RelayConsents } from './relay-consents.ts'

export interface TrackerRuntimeModules {
  readonly core: TrackerCore
  /** Nodes come in by it; started and stopped with the runtime. */
  readonly transport: Transport
  readonly clock: Clock
  readonly crypto: Crypto
  readonly ice: IceServerSource
  /** Asked about the users of nodes, as the core wants it, and heard when answers change. Default: the core asks nothing. */
  readonly permissions?: Permissions | undefined
  /** Who may use the tracker. Default: everybody. */
  readonly admission?: NodeAdmission | undefined
  readonly logger?: TrackerLogger
  /** Told of what is thrown in this build, on a stack of its own: what it throws ends the process. It is in the log as well. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Called before anything that has happened is dealt with: notices that the process stood still. Default: nobody does. */
  readonly checkStall?: () => void
}

/** What a registry says of users. */
export interface Permissions {
  readonly readers: ReaderPolicy
  readonly publishers: PublisherPolicy
}

/** Whose packets are not for this tracker but for another one. */
export interface PacketRouter {
  /** True when it has taken care of a packet of a connected node. */
  takes(from: NodeId, packet: NodeToTracker): boolean
  /** Whether a node that it has taken care of has reported in a later session. */
  isOutdated(from: NodeId, status: Status): boolean
  /** The node is not connected any more, or begins anew. */
  gone(nodeId: NodeId): void
  /** Whether it takes care of a node. */
  serves(nodeId: NodeId): boolean
}

const noRouter: PacketRouter = {
  takes: () => false,
  isOutdated: () => false,
  gone: () => {},
  serves: () => false,
}

/** A session counts as no later than so long after now, in milliseconds: clocks of nodes may be ahead, but nobody holds a node's place for ever by claiming a late one. */
const maxSessionAheadMs = 60_000

/** Carries out what the core decides, on a transport and a clock: in production, in tests and in the simulator. */
export class TrackerRuntime {
  /** Set by a tracker that is in a cluster. */
  router: PacketRouter = noRouter
  /** What is thrown in a call that it scheduled is a fault, and goes no further. */
  readonly clock: Clock
  readonly #core: TrackerCore
  readonly #modules: TrackerRuntimeModules
  readonly #logger: TrackerLogger
  readonly #connections = new NodeConnections()
  readonly #iceLeases: IceLeases
  readonly #consents: RelayConsents
  #stopped = false
  #unwatchAdmission = (): void => {}
  #unwatchReaders = (): void => {}
  readonly #alarm: Alarm
  readonly #checkStall: () => void

  constructor(modules: TrackerRuntimeModules) {
    this.#core = modules.core
    this.#modules = modules
    this.#logger = modules.logger ?? silentLogger
    this.clock = guardedClock(modules.clock, (error) => this.fault(error))
    this.#iceLeases = new IceLeases(modules)
    this.#consents = new RelayConsents(modules)
    this.#alarm = new Alarm({ onDue: () => this.#tick() }, { clock: this.clock })
    modules.core.onFault = (fault) => this.#tellOfFault(fault)
    this.#checkStall = modules.checkStall ?? (() => {})
    this.#core.isNeeded = (nodeId) => this.router.serves(nodeId)
  }

  async start(): Promise<void> {
    this.#stopped = false
    const { transport, admission, permissions } = this.#modules
    this.#unwatchAdmission()
    this.#unwatchReaders()
    this.#unwatchReaders =
      permissions?.readers.onChange((streamId) =>
        this.#try(() => this.#handle({ type: 'permissionsChanged', streamId })),
      ) ?? (() => {})
    this.#unwatchAdmission = admission?.onChange(() => this.#try(() => this.#expelUnlisted())) ?? (() => {})
    transport.onInbound = (connection) => {
      this.#checkStall()
      this.#guard(connection, () => this.#accept(connection))
    }
    await transport.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unwatchAdmission()
    this.#unwatchReaders()
    this.#alarm.set(Infinity)
    await this.#modules.transport.stop()
  }

  /** A node that another tracker relays, be it that it is connected directly and has not brought all home yet. */
  acceptRelayed(connection: RelayedConnection): void {
    this.#accept(connection)
  }

  /**
   * This process stood still, and its nodes have gone elsewhere, or are about to: those that are connected directly are let
   * go, and nothing is known of any, as after a restart.
   */
  beginAnew(): void {
    const { summary } = trackerErrors.TRACKER_STALLED
    for (const connection of [...this.#connections]) {
      if (connection instanceof RelayedConnection) continue
      connection.close('TRACKER_STALLED', summary)
      this.#forget(connection, 'TRACKER_STALLED')
    }
    this.#handle({ type: 'stalled' })
  }

  /** Something besides the packets of nodes has happened. */
  handle(event: TrackerEvent): void {
    this.#handle(event)
  }

  /** Sends a connected node a packet of another tracker. */
  forward(nodeId: NodeId, packet: Uint8Array): void {
    const connection = this.#connections.get(nodeId)
    if (connection !== undefined) this.#sendBytes(connection, packet)
  }

  /** Closes the connections of a node. */
  disconnect(nodeId: NodeId, code: string, text: string): void {
    for (const connection of this.#connections.all(nodeId)) this.#drop(connection, code, text)
  }

  /** Something threw that belongs to no stream part of the core and no connection; `where` it was, for the log. */
  fault(error: unknown, where: Omit<TrackerFault, 'error'> = {}): void {
    this.#core.counters.count('otherFaults')
    this.#tellOfFault({ ...where, error })
  }

  /** What a callback of a connection threw: the connection was closed. */
  connectionFault(error: unknown): void {
    this.#core.counters.count('connectionFaults')
    this.#tellOfFault({ error })
  }

  connectionOf(nodeId: NodeId): Connection | undefined {
    return this.#connections.get(nodeId)
  }

  #accept(connection: Connection): void {
    const { peerId } = connection
    connection.events = {
      onPacket: (type, body) => this.#guard(connection, () => this.#receive(connection, type, body)),
      onDrain: () => {},
      onClose: ({ code }) =>
        this.#try(() => {
          this.#checkStall()
          this.#forget(connection, code)
        }),
    }
    if (connection.peerRole !== 'node') return this.#close(connection, 'NOT_A_NODE')
    if (!this.#isListed(peerId)) {
      this.#core.counters.count('nodesNotListed')
      return this.#dropUnlisted(connection)
    }
    const isDirect = !(connection instanceof RelayedConnection)
    const older = this.#connections.get(peerId)
    const isReplaced = isDirect && older !== undefined && !(older instanceof RelayedConnection)
    this.#connections.add(connection, isDirect, this.#reportedBy(peerId))
    if (isDirect) this.#iceLeases.reconnected(peerId)
    this.#logger.debug({ nodeId: peerId }, 'node connected')
    if (isReplaced) {
      this.router.gone(peerId)
      this.#close(older, 'REPLACED')
    }
    const network = networkOfConnection(connection)
    if (older === undefined) this.#handle({ type: 'nodeConnected', nodeId: peerId, network })
    else if (isDirect) this.#handle({ type: 'nodeMoved', nodeId: peerId, network })
  }

  #isListed(nodeId: NodeId): boolean {
    return this.#modules.admission?.allows(nodeId) ?? true
  }

  #expelUnlisted(): void {
    for (const nodeId of [...this.#core.nodes.keys()]) {
      if (this.#isListed(nodeId)) continue
      for (const connection of this.#connections.all(nodeId)) this.#dropUnlisted(connection)
      this.#handle({ type: 'nodeExpelled', nodeId })
    }
  }

  #dropUnlisted(connection: Connection): void {
    this.#drop(connection, 'NODE_NOT_LISTED', protocolErrors.NODE_NOT_LISTED.summary)
  }

  #receive(connection: Connection, type: number, body: Uint8Array): void {
    this.#checkStall()
    if (!this.#connections.has(connection)) return
    if (packetKind(type) === undefined) return this.#core.counters.count('packetsUnknown')
    let packet: NodeToTracker | undefined
    try {
      packet = decodePacketOf(['toTracker', 'throughTracker'], type, body)
    } catch (error) {
      const code = isRunnelError(error) ? error.code : 'MALFORMED_PACKET'
      return this.#drop(connection, code, 'malformed packet')
    }
    if (packet === undefined) return this.#close(connection, 'NOT_FOR_TRACKERS')
    if (packet.type === 'nodeInfo') return this.#introduce(connection, packet)
    if (!this.#consents.speaks(connection)) return this.#refuseUnsigned(connection)
    if (this.#charge(connection, packet)) this.#take(connection, packet)
  }

  /** Only what a node said, or let another tracker say, is at its expense. False when it was one too many. */
  #charge(connection: Connection, packet: NodeToTracker): boolean {
    const refusal = this.#core.charge(connection.peerId, packet, this.#now())
    if (refusal !== undefined) this.#carryOut(refusal, connection)
    return refusal === undefined
  }

  /** Who is relayed has to have signed for that. */
  #introduce(connection: Connection, packet: NodeInfo): void {
    const from = connection.peerId
    if (connection instanceof RelayedConnection) {
      const outcome = this.#consents.relayed(connection, packet, this.#now())
      if (outcome === 'unsigned') return this.#refuseUnsigned(connection)
      if (outcome === 'too many') return this.#close(connection, 'TOO_MANY_RELAYED')
      if (outcome === 'known' || this.#isOutranked(connection)) return
    } else this.#consents.direct(connection, packet)
    if (!this.#charge(connection, packet)) return
    this.router.takes(from, packet)
    this.#handle({ type: 'packet', from, packet, isPaid: true })
    if (!this.#iceLeases.has(from)) this.#sendIceServers(from)
  }

  #refuseUnsigned(connection: Connection): void {
    this.#core.counters.count('relaysUnsigned')
    this.#close(connection, 'RELAY_NOT_SIGNED')
  }

  #isOutranked(connection: Connection): boolean {
    return this.#consents.isOutranked(connection, this.#connections.get(connection.peerId))
  }

  #take(connection: Connection, packet: Exclude<NodeToTracker, NodeInfo>): void {
    const from = connection.peerId
    const isMember = () => 'streamPartId' in packet && this.#isMember(from, packet.streamPartId)
    const wasMember = isMember()
    if (wasMember && 'streamPartId' in packet && this.#isOutranked(connection)) {
      const { main, way } = this.#connections.ways(from, packet.streamPartId)
      if (way === main) return this.#core.counters.count('relaysOutranked')
    }
    if (!this.#connections.counts(connection, packet, wasMember)) return
    if (packet.type === 'status') {
      if (this.#isOutdated(connection, packet)) return this.#core.counters.count('staleStatuses')
      this.#noteStatus(connection, packet)
    }
    if (!this.router.takes(from, packet)) {
      const dated = packet.type === 'status' ? this.#dated(packet) : packet
      this.#handle({ type: 'packet', from, packet: dated, isPaid: true }, connection)
    }
    if (packet.type !== 'status' || !isMember()) return
    const idle = this.#connections.reported(connection, packet.streamPartId)
    if (idle !== undefined) this.#close(idle, 'REPLACED')
  }

  /** What the node says itself is the newest; what is relayed may have been under way while the node said something else. */
  #isOutdated(connection: Connection, status: Status): boolean {
    if (!(connection instanceof RelayedConnection)) return false
    const { peerId } = connection
    const part = this.#core.streamParts.get(status.streamPartId)
    return part?.isOutdated(peerId, this.#dated(status)) ?? this.router.isOutdated(peerId, status)
  }

  #dated(status: Status): Status {
    const latest = this.#modules.clock.now() + maxSessionAheadMs
    return status.session <= latest ? status : { ...status, session: latest }
  }

  #noteStatus(connection: Connection, { streamPartId, failed }: Status): void {
    const nodeId = connection.peerId
    if (failed.length > 0) this.#logger.debug({ nodeId, streamPartId, failed }, 'edges failed')
    if (!this.#isMember(nodeId, streamPartId)) return
    if (this.#connections.towards(nodeId, streamPartId) !== connection)
      this.#handle({ type: 'partMoved', nodeId, streamPartId })
  }

  #isMember(nodeId: NodeId, id: StreamPartId): boolean {
    const part = this.#core.streamParts.get(id)
    return part !== undefined && (part.members.has(nodeId) || part.feeds.has(nodeId))
  }

  /** Stream parts of a node that are led here. */
  #reportedBy(nodeId: NodeId): StreamPartId[] {
    return [...(this.#core.nodes.get(nodeId)?.parts ?? [])].map(({ id }) => id)
  }

  /** `by` is how the node said what is handled: so it hears the answer. */
  #handle(event: TrackerEvent, by?: Connection): void {
    this.#carryOut(this.#core.handle(event, this.#now()), by)
    this.#setAlarm()
  }

  #carryOut(effects: readonly TrackerEffect[], by: Connection | undefined): void {
    for (const effect of effects) {
      if (effect.type === 'refuse') this.disconnect(effect.to, effect.code, effect.text)
      else if (effect.type === 'resolve') this.#resolve(effect)
      else this.#trySendTo(effect, by)
    }
  }

  #resolve({ streamId, userId, cause }: Extract<TrackerEffect, { type: 'resolve' }>): void {
    const { permissions } = this.#modules
    if (permissions === undefined) return
    const { readers, publishers } = permissions
    const done = (found: boolean) => {
      if (!this.#stopped) this.#try(() => this.#handle({ type: 'userResolved', streamId, userId, found }))
    }
    Promise.all([readers.resolve(streamId, userId, cause), publishers.resolve(streamId, userId, cause)]).then(
      () => done(true),
      () => done(false),
    )
  }

  /** What cannot be encoded is a fault in the work of the stream part it is about, and of the node's otherwise. */
  #trySendTo(effect: Extract<TrackerEffect, { type: 'send' }>, by: Connection | undefined): void {
    try {
      this.#sendTo(effect, by)
    } catch (error) {
      const { to, packet } = effect
      if (packet.type === 'instruction')
        return this.#handle({ type: 'partFault', streamPartId: packet.streamPartId, error })
      this.#core.counters.count('connectionFaults')
      this.#tellOfFault({ nodeId: to, error })
      this.disconnect(to, 'TRACKER_FAULT', trackerErrors.TRACKER_FAULT.summary)
    }
  }

  /** What the work of a connection throws closes it. */
  #guard(connection: Connection, work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#core.counters.count('connectionFaults')
      this.#tellOfFault({ nodeId: connection.peerId, error })
      this.#try(() => this.#close(connection, 'TRACKER_FAULT'))
    }
  }

  #try(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.fault(error)
    }
  }

  #tellOfFault({ error, ...where }: TrackerFault): void {
    this.#logger.error({ ...where, err: error }, 'a fault in the tracker, which ended this work and no other')
    this.#modules.clock.endOfTurn(() => this.#modules.onError?.(error))
  }

  #sendTo({ to, packet }: Extract<TrackerEffect, { type: 'send' }>, by: Connection | undefined): void {
    const isAnswer = by?.peerId === to && packet.type !== 'signal'
    const usual = this.#connections.get(to)
    const way = packet.type === 'instruction' ? this.#connections.towards(to, packet.streamPartId) : usual
    const connection = isAnswer ? by : way
    if (connection !== undefined) this.#send(connection, packet)
  }

  /** An instruction that is lost would leave a node behind; a node that comes back is told everything again. */
  #send(connection: Connection, packet: TrackerToNode): void {
    this.#sendBytes(connection, encodePacket(packet))
  }

  #sendBytes(connection: Connection, packet: Uint8Array): void {
    if (connection.send(packet)) return
    this.#core.counters.count('slowNodes')
    this.#close(connection, 'SLOW_NODE')
  }

  #sendIceServers(nodeId: NodeId): void {
    const connection = this.#connections.get(nodeId)
    if (connection === undefined) return
    const packet = this.#iceLeases.grant(nodeId)
    if (packet === undefined) return
    this.#send(connection, packet)
    this.#setAlarm()
  }

  #close(connection: Connection, code: TrackerErrorCode): void {
    this.#drop(connection, code, trackerErrors[code].summary)
  }

  /** Closes a connection; from now on the node counts as disconnected, however long closing takes. */
  #drop(connection: Connection, code: string, text: string): void {
    this.#logger.info({ nodeId: connection.peerId, code }, text)
    connection.close(code, text)
    this.#forget(connection, code)
  }

  #forget(connection: Connection, code: string): void {
    const nodeId = connection.peerId
    if (!this.#connections.has(connection)) return
    const { isLast, lost } = this.#connections.delete(connection, this.#reportedBy(nodeId))
    this.#logger.debug({ nodeId, code }, 'node disconnected')
    // One that has connected once more reports by itself.
    const isTold = code !== 'REPLACED'
    if (!isLast) return this.#handle({ type: 'partsLost', nodeId, streamPartIds: lost, isTold })
    this.#iceLeases.gone(nodeId)
    this.router.gone(nodeId)
    this.#handle({ type: 'nodeDisconnected', nodeId })
  }

  #tick(): void {
    this.#checkStall()
    for (const nodeId of this.#iceLeases.takeDue()) this.#try(() => this.#sendIceServers(nodeId))
    this.#handle({ type: 'tick' })
  }

  #setAlarm(): void {
    if (!this.#stopped) this.#alarm.set(Math.min(this.#core.wakeAt ?? Infinity, this.#iceLeases.wakeAt))
  }

  #now(): number {
    return this.#modules.clock.monotonicMs()
  }
}

/** Where a node comes from; all that another tracker relays are as of one network. */
function networkOfConnection(connection: Connection): string | undefined {
  if (connection instanceof RelayedConnection) return `relayed by ${connection.relay}`
  const { remoteAddress } = connection
  return remoteAddress === undefined ? undefined : networkOf(remoteAddress)
}
