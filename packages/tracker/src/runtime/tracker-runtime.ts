import {
  Alarm,
  decodePacketOf,
  encodePacket,
  guardedClock,
  isRunnelError,
  networkOf,
  OpenQuestions,
  packetKind,
  questionKey,
  type Clock,
  type Crypto,
  type NodeAdmission,
  type NodeId,
  type NodeInfo,
  type PacketOf,
  type PublisherPolicy,
  type ReaderPolicy,
  type Status,
  type TrackerToNode,
  type RunnelError,
} from '@runnel/protocol'
import {
  admissionProblem,
  listingProblem,
  type CircuitListener,
  type Connection,
  type Transport,
} from '@runnel/transport'
import { unknownNetwork } from '../core/core-state.ts'
import type {
  NodeToTracker,
  TrackerCore,
  TrackerEffect,
  TrackerEvent,
  TrackerFault,
} from '../core/tracker-core.ts'
import type { RegistryQuestion } from '../core/askers.ts'
import { trackerErrors, type TrackerErrorCode } from '../errors.ts'
import type { IceServerSource } from '../ice/ice-server-source.ts'
import { silentLogger, type TrackerLogger } from '../logger.ts'
import { IceLeases } from './ice-leases.ts'

export interface TrackerRuntimeModules {
  readonly core: TrackerCore
  /** Accepts nodes; started and stopped with the runtime. */
  readonly transport: Transport
  /** Accepts circuits over other trackers; stopped with the runtime. Default: no circuits. */
  readonly circuits?: CircuitListener | undefined
  readonly clock: Clock
  readonly crypto: Crypto
  readonly ice: IceServerSource
  /** Asked about the users of nodes when the core wants it, and observed for changes. Default: the core asks nothing. */
  readonly permissions?: Permissions | undefined
  /** Which nodes may use the tracker. Default: all. */
  readonly admission?: NodeAdmission | undefined
  readonly logger?: TrackerLogger
  /** Called with errors in this build, on a stack of its own: what it throws ends the process. They are logged as well. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** Called before each event is handled: notices that the process stalled. Default: no check. */
  readonly checkStall?: () => void
}

/** What a registry says of users. */
export interface Permissions {
  readonly readers: ReaderPolicy
  readonly publishers: PublisherPolicy
}

/** Takes packets that are for another tracker. */
export interface PacketRouter {
  /** True when it has handled a packet of a connected node. */
  takes(from: NodeId, packet: NodeToTracker): boolean
  /** The node disconnected, or begins anew. */
  gone(nodeId: NodeId): void
}

const noRouter: PacketRouter = {
  takes: () => false,
  gone: () => {},
}

/** A full status is a status that also says by what the node is linked. */
function asStatus(packet: PacketOf<'toTracker' | 'throughTracker'> | undefined): NodeToTracker | undefined {
  return packet?.type === 'fullStatus' ? { ...packet, type: 'status' } : packet
}

/** Carries out the core's effects on a transport and a clock: in production, in tests and in the simulator. */
export class TrackerRuntime {
  /** Set by a tracker that is in a cluster. */
  router: PacketRouter = noRouter
  /** An error in a scheduled call is a fault, and goes no further. */
  readonly clock: Clock
  readonly #core: TrackerCore
  readonly #modules: TrackerRuntimeModules
  readonly #logger: TrackerLogger
  readonly #connections = new Map<NodeId, Connection>()
  readonly #iceLeases: IceLeases
  readonly #questions = new OpenQuestions()
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
    this.#alarm = new Alarm({ onDue: () => this.#tick() }, { clock: this.clock })
    modules.core.onFault = (fault) => this.#tellOfFault(fault)
    this.#checkStall = modules.checkStall ?? (() => {})
  }

  async start(): Promise<void> {
    this.#stopped = false
    const { transport, circuits, admission, permissions } = this.#modules
    this.#unwatchAdmission()
    this.#unwatchReaders()
    this.#unwatchReaders =
      permissions?.readers.onChange((streamId) =>
        this.#try(() => this.#handle({ type: 'permissionsChanged', streamId })),
      ) ?? (() => {})
    this.#unwatchAdmission = admission?.onChange(() => this.#try(() => this.#expelUnlisted())) ?? (() => {})
    const onInbound = (connection: Connection) => {
      this.#checkStall()
      this.#guard(connection, () => this.#accept(connection))
    }
    transport.onInbound = onInbound
    if (circuits !== undefined) circuits.onInbound = onInbound
    await transport.start()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#unwatchAdmission()
    this.#unwatchReaders()
    this.#alarm.set(Infinity)
    await Promise.all([this.#modules.transport.stop(), this.#modules.circuits?.stop()])
  }

  /**
   * This process stalled, and its nodes have gone elsewhere, or are about to: they are disconnected and forgotten, as after a
   * restart.
   */
  beginAnew(): void {
    const { summary } = trackerErrors.TRACKER_STALLED
    for (const connection of [...this.#connections.values()]) {
      connection.close('TRACKER_STALLED', summary)
      this.#forget(connection)
    }
    this.#handle({ type: 'stalled' })
  }

  /** Handles an event other than packets of nodes. */
  handle(event: TrackerEvent): void {
    this.#handle(event)
  }

  /** Sends a node a packet, if it is connected. */
  send(nodeId: NodeId, packet: TrackerToNode): void {
    const connection = this.#connections.get(nodeId)
    if (connection !== undefined) this.#send(connection, packet)
  }

  /** Closes the connection of a node. */
  disconnect(nodeId: NodeId, code: string, text: string): void {
    const connection = this.#connections.get(nodeId)
    if (connection !== undefined) this.#drop(connection, code, text)
  }

  /** Reports an error that belongs to no stream part of the core and no connection; `where` is for the log. */
  fault(error: unknown, where: Omit<TrackerFault, 'error'> = {}): void {
    this.#core.counters.count('otherFaults')
    this.#tellOfFault({ ...where, error })
  }

  /** What a callback of a connection threw; the connection was closed. */
  connectionFault(error: unknown): void {
    this.#core.counters.count('connectionFaults')
    this.#tellOfFault({ error })
  }

  #accept(connection: Connection): void {
    const { peerId } = connection
    connection.events = {
      onPacket: (type, body) => this.#guard(connection, () => this.#receive(connection, type, body)),
      onDrain: () => {},
      onCredential: () =>
        this.#try(() => {
          if (!this.#isCurrent(connection)) return
          const refusal = this.#refusalOf(connection)
          if (refusal !== undefined) return this.#drop(connection, refusal.code, refusal.message)
          this.#handle({ type: 'credentialRenewed', nodeId: peerId, actingFor: connection.actingFor })
        }),
      onClose: () =>
        this.#try(() => {
          this.#checkStall()
          this.#forget(connection)
        }),
    }
    if (connection.peerRole !== 'node') return this.#close(connection, 'NOT_A_NODE')
    const refusal = this.#refusalOf(connection)
    if (refusal !== undefined) {
      this.#core.counters.count('nodesNotListed')
      return this.#drop(connection, refusal.code, refusal.message)
    }
    const older = this.#connections.get(peerId)
    this.#connections.set(peerId, connection)
    this.#iceLeases.reconnected(peerId)
    this.#logger.debug({ nodeId: peerId }, 'node connected')
    if (older !== undefined) {
      this.router.gone(peerId)
      this.#close(older, 'REPLACED')
    }
    const { remoteAddress } = connection
    const network = remoteAddress === undefined ? undefined : networkOf(remoteAddress)
    const { actingFor } = connection
    this.#handle({ type: 'nodeConnected', nodeId: peerId, network, actingFor })
  }

  #refusalOf(
    connection: Pick<Connection, 'peerId' | 'actingFor' | 'remoteAddress'>,
  ): RunnelError | undefined {
    return admissionProblem(connection, this.#connections.values(), this.#modules.admission)
  }

  /** Also those that were connected a moment ago. */
  #expelUnlisted(): void {
    const { admission } = this.#modules
    for (const [nodeId, { actingFor, hasConnected }] of [...this.#core.nodes]) {
      const refusal = hasConnected ? listingProblem({ peerId: nodeId, actingFor }, admission) : undefined
      if (refusal === undefined) continue
      const connection = this.#connections.get(nodeId)
      if (connection !== undefined) this.#drop(connection, refusal.code, refusal.message)
      this.#handle({ type: 'nodeExpelled', nodeId })
    }
  }

  #receive(connection: Connection, type: number, body: Uint8Array): void {
    this.#checkStall()
    if (!this.#isCurrent(connection)) return
    if (packetKind(type) === undefined) return this.#core.counters.count('packetsUnknown')
    let packet: NodeToTracker | undefined
    try {
      packet = asStatus(decodePacketOf(['toTracker', 'throughTracker'], type, body))
    } catch (error) {
      const code = isRunnelError(error) ? error.code : 'MALFORMED_PACKET'
      return this.#drop(connection, code, 'malformed packet')
    }
    if (packet === undefined) return this.#close(connection, 'NOT_FOR_TRACKERS')
    if (this.#charge(connection, packet)) this.#take(connection.peerId, packet)
  }

  /** Whether it is the newest connection of its node. */
  #isCurrent(connection: Connection): boolean {
    return this.#connections.get(connection.peerId) === connection
  }

  /** Charges a node for a packet, even if another tracker leads the stream part. False when it exceeded its rate. */
  #charge({ peerId }: Connection, packet: NodeToTracker): boolean {
    const refusal = this.#core.charge(peerId, packet, this.#now())
    if (refusal !== undefined) this.#carryOut(refusal)
    return refusal === undefined
  }

  #take(from: NodeId, packet: NodeToTracker): void {
    if (this.router.takes(from, packet)) return
    if (packet.type === 'status') this.#logFailures(from, packet)
    this.#handle({ type: 'packet', from, packet, isPaid: true })
    // It may have been refused for it, and be gone.
    if (packet.type === 'nodeInfo' && this.#connections.has(from)) this.#introduced(from, packet)
  }

  #introduced(from: NodeId, { contact }: NodeInfo): void {
    this.#iceLeases.reached(from, contact, this.#core.nodes.get(from)?.network ?? unknownNetwork)
    this.#nameCarriers()
    if (!this.#iceLeases.has(from)) this.#sendIceServers(from)
  }

  #nameCarriers(): void {
    for (const nodeId of this.#iceLeases.takeNewCarriers()) this.#try(() => this.#sendIceServers(nodeId))
    this.#setAlarm()
  }

  #logFailures(nodeId: NodeId, { streamPartId, failed }: Status): void {
    if (failed.length > 0) this.#logger.debug({ nodeId, streamPartId, failed }, 'edges failed')
  }

  #handle(event: TrackerEvent): void {
    this.#carryOut(this.#core.handle(event, this.#now()))
    this.#setAlarm()
  }

  #carryOut(effects: readonly TrackerEffect[]): void {
    for (const effect of effects) {
      if (effect.type === 'refuse') this.disconnect(effect.to, effect.code, effect.text)
      else if (effect.type === 'resolve') this.#resolve(effect)
      else this.#trySendTo(effect)
    }
  }

  #resolve(question: RegistryQuestion): void {
    const { permissions } = this.#modules
    if (permissions === undefined) return
    const { scope, userId, cause, delegation } = question
    const { readers, publishers } = permissions
    const ask = () =>
      Promise.all([
        readers.resolve(scope, userId, cause, delegation),
        publishers.resolve(scope, userId, cause, delegation),
      ])
    const key = questionKey(scope, userId, cause, delegation)
    this.#questions.ask(key, ask, (found) => {
      if (!this.#stopped) this.#try(() => this.#handle({ ...question, type: 'userResolved', found }))
    })
  }

  /** A packet that cannot be encoded is a fault in the work of its stream part, or else of the node. */
  #trySendTo({ to, packet }: Extract<TrackerEffect, { type: 'send' }>): void {
    try {
      this.send(to, packet)
    } catch (error) {
      if (packet.type === 'instruction')
        return this.#handle({ type: 'partFault', streamPartId: packet.streamPartId, error })
      this.#core.counters.count('connectionFaults')
      this.#tellOfFault({ nodeId: to, error })
      this.disconnect(to, 'TRACKER_FAULT', trackerErrors.TRACKER_FAULT.summary)
    }
  }

  /** An error in the work of a connection closes it. */
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

  /** A lost instruction would leave a node behind; a node that comes back is told everything again. */
  #send(connection: Connection, packet: TrackerToNode): void {
    if (connection.send(encodePacket(packet))) return
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

  /** Closes a connection; the node counts as disconnected at once, however long closing takes. */
  #drop(connection: Connection, code: string, text: string): void {
    this.#logger.info({ nodeId: connection.peerId, code }, text)
    connection.close(code, text)
    this.#forget(connection)
  }

  #forget(connection: Connection): void {
    const nodeId = connection.peerId
    if (!this.#isCurrent(connection)) return
    this.#connections.delete(nodeId)
    this.#logger.debug({ nodeId }, 'node disconnected')
    this.#iceLeases.gone(nodeId)
    this.router.gone(nodeId)
    this.#handle({ type: 'nodeDisconnected', nodeId })
  }

  #tick(): void {
    this.#checkStall()
    for (const nodeId of this.#iceLeases.takeDue()) this.#try(() => this.#sendIceServers(nodeId))
    this.#nameCarriers()
    this.#handle({ type: 'tick' })
  }

  #setAlarm(): void {
    if (!this.#stopped) this.#alarm.set(Math.min(this.#core.dueMs, this.#iceLeases.dueMs))
  }

  #now(): number {
    return this.#modules.clock.monotonicMs()
  }
}
