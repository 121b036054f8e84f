import {
  decodePacket,
  encodePacket,
  isRunnelError,
  PacketType,
  isDelegationError,
  lossyCapability,
  urgentCapability,
  type ActingFor,
  type Arrivals,
  type Cancel,
  type Close,
  type LinkRole,
  type Mark,
  type NodeId,
  type Piece,
  type Ping,
  type Pong,
  type UrgentMessage,
} from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type {
  CloseReason,
  Connection,
  ConnectionEvents,
  ConnectionStats,
  LinkPath,
  SendMode,
} from '../ports.ts'
import { Answers } from './answers.ts'
import type { Channel } from './channel.ts'
import { closePacket, closeReason } from './close-reason.ts'
import { credentialPacket } from './credentials.ts'
import { EarlyPackets } from './early-packets.ts'
import type { Peer } from './handshake.ts'
import { Heartbeat } from './heartbeat.ts'
import { IncomingFrames } from './incoming-frames.ts'
import type { ConnectionLimits } from './limits.ts'
import { LossyFlow } from './lossy-flow.ts'
import { guarded, type ConnectionModules } from './modules.ts'
import { Outflow } from './outflow.ts'
import { PeerCredential } from './peer-credential.ts'
import { inputOfPacket, transition, type ConnectionState } from './state.ts'
import { newStats } from './stats.ts'
import { UrgentFlow } from '../urgent/urgent-flow.ts'

const nothing = (): void => {}

export interface LinkConnectionOptions {
  readonly channel: Channel
  readonly peer: Peer
  readonly direction: 'outbound' | 'inbound'
  readonly limits: ConnectionLimits
}

/** A connection once the peer is proven. `openConnection` makes it and feeds it what the channel receives. */
export class LinkConnection implements Connection {
  readonly direction: 'outbound' | 'inbound'
  events: ConnectionEvents = { onPacket() {}, onDrain() {}, onClose() {} }
  saidFirst: Uint8Array | undefined
  readonly #channel: Channel
  readonly #peer: Peer
  readonly #limits: ConnectionLimits
  readonly #modules: ConnectionModules
  readonly #stats = newStats()
  readonly #outflow: Outflow
  readonly #heartbeat: Heartbeat
  readonly #incoming: IncomingFrames
  readonly #answers: Answers
  readonly #early: EarlyPackets
  /** Made for the first urgent message: most links never carry one. */
  #urgent: UrgentFlow | undefined
  /** Where the channel has such a lane, and both ends know it. */
  readonly #lossy: LossyFlow | undefined
  #state: ConnectionState = 'open'
  /** Why it ends, as soon as that is known. */
  #reason: CloseReason | undefined
  /** Of a peer that acts for somebody. */
  readonly #credential: PeerCredential | undefined
  #cancelCloseTimeout: Cancel = nothing
  #unwatchActing: () => void = nothing

  constructor({ channel, peer, direction, limits }: LinkConnectionOptions, modules: ConnectionModules) {
    this.direction = direction
    this.#channel = channel
    this.#peer = peer
    this.#limits = limits
    this.#modules = modules
    const { clock, random } = modules
    this.#early = new EarlyPackets(limits)
    const onExpired = (code: string, text: string): void => this.close(code, text)
    if (peer.actingFor !== undefined)
      this.#credential = new PeerCredential(peer, limits, { ...modules, onExpired })
    this.#lossy = this.#newLossyFlow()
    this.#outflow = new Outflow(channel, limits, {
      clock,
      urgent: () => this.#urgent,
      stats: this.#stats,
      onDrain: () => this.#state === 'open' && this.guard(() => this.events.onDrain()),
      onStalled: () => this.#giveUp('SLOW_PEER', `no byte left for ${limits.stallTimeoutMs} ms`),
    })
    this.#heartbeat = new Heartbeat(limits, {
      clock,
      random,
      outflow: this.#outflow,
      sendPing: (token) => this.#ping(encodePacket({ type: 'ping', token })),
      onDead: () => this.#onDead(),
    })
    this.#answers = new Answers(limits, { clock, outflow: this.#outflow })
    this.#incoming = this.#newIncoming()
  }

  #newIncoming(): IncomingFrames {
    const { maxPacketBytes } = this.#limits
    const knowsLossy = this.#lossy !== undefined
    return new IncomingFrames(
      { channel: this.#channel, maxPacketBytes, knowsUrgent: this.#knowsUrgent, knowsLossy },
      {
        stats: this.#stats,
        isOpen: () => this.#state === 'open',
        heard: () => this.#heartbeat.heard(),
        onLinkPacket: (type, body, isDatagram) => this.#onLinkPacket(type, body, isDatagram),
        onUrgent: (body) => this.#urgentFlow()?.onUrgent(body),
        onPacket: (type, body, whole) => this.#deliver(type, body, whole),
        onBadInput: (error) => this.onBadInput(error),
      },
    )
  }

  /** Whether both ends know urgent messages. */
  get #knowsUrgent(): boolean {
    return this.#peer.capabilities.has(urgentCapability)
  }

  /** Undefined where not both ends know urgent messages. */
  #urgentFlow(): UrgentFlow | undefined {
    if (this.#urgent === undefined && this.#knowsUrgent) this.#urgent = this.#newUrgentFlow()
    return this.#urgent
  }

  #newUrgentFlow(): UrgentFlow {
    const { clock, random } = this.#modules
    return new UrgentFlow(this.#channel, this.#limits, {
      ...{ clock, random, stats: this.#stats },
      rttMs: () => this.rttMs,
      hand: (frame) => this.#outflow.jump(frame),
      mayAnswer: (lane) => this.#answers.mayLeave(lane),
      flushOthers: () => this.onDrain(),
      deliver: ({ type, body, whole }) => this.#deliver(type, body, whole),
      dropped: (why, message) => this.guard(() => this.events.onUrgentDropped?.(why, message)),
      repeated: () => this.guard(() => this.events.onUrgentRepeated?.()),
      rateChanged: () => this.guard(() => this.events.onUrgentRate?.()),
    })
  }

  #newLossyFlow(): LossyFlow | undefined {
    const { lossy } = this.#channel
    if (lossy === undefined || !this.#peer.capabilities.has(lossyCapability)) return undefined
    const { clock } = this.#modules
    return new LossyFlow(lossy, this.#limits, { clock, stats: this.#stats, rttMs: () => this.rttMs })
  }

  get peerId(): NodeId {
    return this.#peer.nodeId
  }

  get peerRole(): LinkRole {
    return this.#peer.role
  }

  get capabilities(): ReadonlySet<string> {
    return this.#peer.capabilities
  }

  get actingFor(): ActingFor | undefined {
    return this.#credential?.actingFor
  }

  get transport(): string {
    return this.#channel.kind
  }

  get path(): LinkPath | undefined {
    return this.#channel.path
  }

  get remoteAddress(): string | undefined {
    return this.#channel.remoteAddress
  }

  get rttMs(): number | undefined {
    return this.#heartbeat.rttMs
  }

  get answeredMs(): number | undefined {
    return this.#heartbeat.answeredMs
  }

  urgentKbitPerSOf(publisher: string): number | undefined {
    return this.#urgentFlow()?.kbitPerSOf(publisher)
  }

  get queuedBytes(): number {
    return this.#outflow.queuedBytes + (this.#lossy?.queuedBytes ?? 0)
  }

  get writable(): boolean {
    return this.#state === 'open' && this.#outflow.writable
  }

  get stats(): ConnectionStats {
    return this.#stats
  }

  /** Starts the pings; after this turn packets go to the owner as they come. */
  start(): void {
    this.#heartbeat.start()
    this.#unwatchActing = this.#modules.acting?.onChange(() => this.#showCredential()) ?? nothing
    this.#credential?.watch()
    this.#incoming.readLanes()
    this.#modules.clock.endOfTurn(() => this.#releaseEarly())
  }

  send(packet: Uint8Array, mode: SendMode = 'ordinary'): boolean {
    if (this.#state !== 'open') return false
    this.#heartbeat.used()
    return (mode === 'mayLose' && this.#lossy?.offer(packet) === true) || this.#outflow.offer(packet, mode)
  }

  sendUrgent(message: UrgentMessage): boolean {
    const urgent = this.#state === 'open' ? this.#urgentFlow() : undefined
    if (urgent === undefined) return false
    this.#heartbeat.used()
    urgent.offer(message)
    return true
  }

  close(code: string, text: string): void {
    this.#end(closeReason(code, text, false))
  }

  /** One frame of the channel. */
  onFrame(frame: Uint8Array): void {
    this.#incoming.onFrame(frame)
  }

  /** One packet of a frame. Throws when the peer breaks the protocol. */
  onPacket(type: number, body: Uint8Array, whole: Uint8Array): void {
    this.#incoming.onPacket(type, body, whole)
  }

  #onLinkPacket(type: number, body: Uint8Array, isDatagram: boolean): void {
    const next = transition(this.#state, inputOfPacket(type))
    if (next === 'violation')
      throw transportError('PROTOCOL_VIOLATION', `packet type ${type} on an open link`)
    if (type === PacketType.credential) {
      if (this.#credential === undefined)
        throw transportError('PROTOCOL_VIOLATION', 'a credential that is not due')
      this.#credential.renew(body)
      return this.guard(() => this.events.onCredential?.())
    }
    const packet = decodePacket(type, body) as Ping | Pong | Close | Piece | Mark | Arrivals
    switch (packet.type) {
      case 'piece':
      case 'mark':
      case 'arrivals':
        return this.#onUrgentPacket(packet)
      case 'ping':
        this.#heartbeat.pinged()
        return this.#answer(packet.token, isDatagram)
      case 'pong':
        if (this.#urgent?.answered(packet.token) !== true) this.#heartbeat.onPong(packet.token)
        return
      case 'close':
        this.#finish(closeReason(packet.code, packet.reason, true))
        this.#closeChannelWithin(this.#limits.closeTimeoutMs)
        return this.#channel.close()
    }
  }

  #onUrgentPacket(packet: Piece | Mark | Arrivals): void {
    const urgent = this.#urgentFlow()
    if (urgent === undefined) throw transportError('PROTOCOL_VIOLATION', `a ${packet.type} of nothing`)
    if (packet.type === 'piece') urgent.onPiece(packet)
    else if (packet.type === 'mark') urgent.onMark(packet.number)
    else urgent.onArrivals(packet)
  }

  #showCredential(): void {
    const credential = this.#modules.acting?.credential()
    if (credential !== undefined && this.#state === 'open')
      this.#outflow.forceNow(credentialPacket(credential))
  }

  /** By the way that the ping came. Where urgent messages may wait for it, it waits for nothing here. */
  #answer(token: number, isDatagram: boolean): void {
    const lane = isDatagram ? this.#channel.datagrams : undefined
    this.#answers.pinged(token, { lane, mayJump: this.#knowsUrgent })
  }

  /** Others may wait for long while urgent messages go first. */
  #ping(packet: Uint8Array): void {
    if (this.#urgent?.isActive === true) this.#outflow.jump(packet)
    else this.#outflow.forceNow(packet)
  }

  #deliver(type: number, body: Uint8Array, whole: Uint8Array): void {
    this.#heartbeat.used()
    if (this.#early.areKept) return this.#early.keep(type, body, whole)
    this.guard(() => this.events.onPacket(type, body, whole))
  }

  #releaseEarly(): void {
    for (const { type, body, whole } of this.#early.release()) {
      if (this.#reason !== undefined && !this.#reason.remote) break
      this.#deliver(type, body, whole)
    }
    if (this.#state === 'closed' && this.#reason !== undefined) this.#reportClose(this.#reason)
  }

  /** The peer broke the protocol: `error` says how. */
  onBadInput(error: unknown): void {
    const isTold = isRunnelError(error, 'FRAME_TOO_LARGE') || isDelegationError(error)
    const code = isTold ? error.code : 'PROTOCOL_VIOLATION'
    const text = error instanceof Error ? error.message : String(error)
    this.#outflow.clear()
    this.#end(closeReason(code, text, false))
  }

  /** Runs a callback of the owner; what it throws ends this connection and nothing else. */
  guard(call: () => void): void {
    if (!guarded(this.#modules, call)) return
    // The peer is told that there was a fault, not which.
    this.#outflow.clear()
    this.#end(closeReason('INTERNAL_ERROR', 'a callback threw', false))
  }

  #onDead(): void {
    if (this.queuedBytes > this.#limits.lowMarkBytes)
      this.#giveUp('SLOW_PEER', 'it takes no data and is silent')
    else this.#giveUp('PEER_DEAD', `${this.#limits.maxMissedPongs} pings without an answer`)
  }

  /** Ends without a close packet, which would not arrive. */
  #giveUp(code: string, text: string): void {
    this.#heartbeat.stop()
    if (this.#state === 'open') this.#reason = closeReason(code, text, false)
    this.#state = transition(this.#state, 'end') as ConnectionState
    this.#channel.close(true)
  }

  /** Sends a close packet after what is queued, and closes the channel when that has left, or after a time limit. */
  #end(reason: CloseReason): void {
    if (this.#state !== 'open') return
    this.#reason = reason
    this.#state = 'closing'
    this.#heartbeat.stop()
    this.#outflow.force(encodePacket(closePacket(reason.code, reason.text)))
    this.#closeChannelWithin(this.#limits.closeTimeoutMs)
    this.onDrain()
  }

  /** The channel has room. */
  onDrain(): void {
    this.#urgent?.flush()
    this.#outflow.flush()
    if (this.#state === 'closing' && this.#outflow.empty) this.#channel.close()
  }

  #closeChannelWithin(timeoutMs: number): void {
    this.#cancelCloseTimeout = this.#modules.clock.schedule(timeoutMs, () => this.#channel.close(true))
  }

  /** The channel is closed. */
  onChannelClose(text: string, code = 'CONNECTION_LOST'): void {
    this.#cancelCloseTimeout()
    this.#finish(this.#reason ?? closeReason(code, text, false))
  }

  #finish(reason: CloseReason): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#reason = reason
    this.#heartbeat.stop()
    this.#outflow.stop()
    this.#urgent?.stop()
    this.#lossy?.stop()
    this.#unwatchActing()
    this.#credential?.stop()
    if (!this.#early.areKept) this.#reportClose(reason)
  }

  #reportClose(reason: CloseReason): void {
    this.guard(() => this.events.onClose(reason))
  }
}
