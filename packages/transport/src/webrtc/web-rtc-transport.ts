import type { Cancel, IceServer, NodeId, RunnelError, Signal } from '@runnel/protocol'

import { transportError, type TransportErrorCode } from '../errors.ts'
import type { Connection, DialRequest, OpenOffer, OpenOfferRequest, Signalling, Transport } from '../ports.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { Attempt, type AttemptEvents, type AttemptOptions } from './attempt.ts'
import { toIceServer } from './ice-server.ts'
import type { CreatePeerConnection } from './peer-connection-port.ts'
import type { RtcChannel } from './rtc-channel.ts'

export interface WebRtcOptions {
  /** STUN and TURN servers: `stun:host:port`, `turn:user:password@host:port`, or with separate credentials. Default none. */
  readonly iceServers?: readonly (string | IceServer)[]
  /** `relay`: only through TURN; nobody but the TURN server is sent anything. Default `all`. */
  readonly iceTransportPolicy?: 'all' | 'relay'
  /** Address of the network interface to use; all when absent. */
  readonly bindAddress?: string
  /** UDP ports to use, both ends included; any when absent. */
  readonly portRange?: readonly [first: number, last: number]
  /** Channels and attempts together; a peer connection costs 290 kB. */
  readonly maxConnections?: number
  /** Limit on attempts by other nodes that are not open yet. */
  readonly maxPendingInbound?: number
  /** The same limit for one node. */
  readonly maxPendingInboundPerPeer?: number
  /** Limit on candidates accepted from the other side in one attempt. */
  readonly maxCandidates?: number
  /** Time limit for one dial, handshake included, in milliseconds. */
  readonly dialTimeoutMs?: number
  /**
   * An attempt that fails sooner than this, in milliseconds, is repeated at once. The library fails in one set-up of a thousand
   * because it may check the answerer's certificate before it has stored the fingerprint from the answer. On a busy machine that has taken 1.9 s.
   */
  readonly quickFailMs?: number
  /** Limit on such repeated attempts in one dial. */
  readonly maxQuickRetries?: number
}

export const webRtcDefaults = {
  iceServers: [],
  iceTransportPolicy: 'all',
  maxConnections: 250,
  maxPendingInbound: 64,
  maxPendingInboundPerPeer: 4,
  maxCandidates: 64,
  dialTimeoutMs: 15_000,
  quickFailMs: 5000,
  maxQuickRetries: 3,
} as const satisfies WebRtcOptions

export interface WebRtcModules extends ConnectionModules {
  readonly signalling: Signalling
  /** The platform's implementation of WebRTC. */
  readonly createPeerConnection: CreatePeerConnection
  /** Where that does not reach TURN servers as it should: what does. */
  readonly tunnels?: {
    /** Servers are of no use before they have a tunnel. */
    readonly always: boolean
    servers(servers: readonly IceServer[]): Promise<readonly IceServer[]>
    stop(): void
  }
}

/** What has happened since the start. */
export interface WebRtcCounters {
  dials: number
  opened: number
  failed: number
  /** Attempts that followed an early failure. */
  retries: number
  /** Offers that were made before their peer was chosen. */
  openOffers: number
  /** Offers refused because of a limit. */
  offersRefused: number
  /** Signals of unknown sessions, and offers of known ones. */
  signalsIgnored: number
  /** Candidates above the limit, malformed, or unusable here. */
  candidatesDropped: number
  /** Entries given to `setIceServers` that are no ICE servers. */
  iceServersIgnored: number
}

/** An offer that was made before its peer was chosen. */
interface Offered {
  readonly attempt: Attempt
  /** Both of whoever dials that peer, once somebody does. */
  events: Pick<AttemptEvents, 'onOpen' | 'onFail'>
  first: DialRequest['first']
}

type Settings = Required<Omit<WebRtcOptions, 'bindAddress' | 'portRange'>> & WebRtcOptions

/**
 * Links over WebRTC data channels. Every attempt is a session of its own, identified by peer, session id and who offered,
 * so that two nodes may dial each other at the same time.
 */
export class WebRtcTransport implements Transport {
  readonly kind = 'webrtc'
  readonly addresses = ['']
  onInbound: (connection: Connection) => void = () => {}
  onInboundFailed: (peerId: NodeId) => void = () => {}
  readonly counters: WebRtcCounters = {
    dials: 0,
    opened: 0,
    failed: 0,
    retries: 0,
    openOffers: 0,
    offersRefused: 0,
    signalsIgnored: 0,
    candidatesDropped: 0,
    iceServersIgnored: 0,
  }
  readonly #settings: Settings
  readonly #modules: WebRtcModules
  /** Those that are not open, until their channels, if they have any, are closed. */
  readonly #attempts = new Map<string, Attempt>()
  /** Attempts at peers that were chosen after this side's offer, and that nobody here has dialled yet. */
  readonly #taken = new Map<NodeId, Offered>()
  /** Every channel that is not closed, with its connection once that is open. The only reference that keeps them alive. */
  readonly #channels = new Map<RtcChannel, Connection | undefined>()
  readonly #dials = new Set<{ fail(error: RunnelError): void }>()
  #iceServers: readonly IceServer[] = []
  /** What was given last, of which some may not be reached yet. */
  #given: readonly IceServer[] = []
  #running = false
  readonly #waitingForEnd: (() => void)[] = []

  constructor(options: WebRtcOptions, modules: WebRtcModules) {
    this.#settings = { ...webRtcDefaults, ...options }
    this.#modules = modules
  }

  /** Throws INVALID_ICE_SERVER. */
  async start(): Promise<void> {
    if (this.#running) return
    if (this.#given.length === 0) await this.#use(this.#settings.iceServers.map(toIceServer))
    this.#running = true
  }

  async stop(): Promise<void> {
    this.#running = false
    for (const dial of this.#dials) dial.fail(transportError('SHUTTING_DOWN'))
    for (const attempt of this.#attempts.values()) attempt.cancel('SHUTTING_DOWN')
    this.#attempts.clear()
    this.#taken.clear()
    for (const connection of this.#channels.values()) connection?.close('SHUTTING_DOWN', '')
    if (this.#channels.size > 0) await new Promise<void>((resolve) => this.#waitingForEnd.push(resolve))
    this.#modules.tunnels?.stop()
  }

  /** Sets the servers for future attempts; what is no ICE server is left out and counted. */
  setIceServers(servers: readonly (string | IceServer)[]): void {
    const checked = servers.flatMap((server) => {
      // Nodes that carry circuits are named in the same list.
      if (isCarrier(server)) return []
      try {
        return [toIceServer(server)]
      } catch {
        this.counters.iceServersIgnored++
        return []
      }
    })
    void this.#use(checked)
  }

  /** At once, and again when those are there that need a tunnel. */
  async #use(servers: readonly IceServer[]): Promise<void> {
    const { tunnels } = this.#modules
    this.#given = servers
    if (tunnels?.always !== true) this.#iceServers = servers
    const reached = await tunnels?.servers(servers)
    if (reached !== undefined && this.#given === servers) this.#iceServers = reached
  }

  canDial(url: string): boolean {
    return url === ''
  }

  dial(request: DialRequest): Cancel {
    const { clock } = this.#modules
    const { peerId, first } = request
    const deadlineMs = clock.monotonicMs() + (request.timeoutMs ?? this.#settings.dialTimeoutMs)
    this.counters.dials++
    let attempt: Attempt | undefined
    const dial = {
      fail: (error: RunnelError) => {
        if (!this.#dials.delete(dial)) return
        this.counters.failed++
        if (attempt) this.#end(attempt, 'SHUTTING_DOWN')
        request.onFail(error)
      },
    }
    const attemptWith = (retriesLeft: number) => {
      if (!this.#dials.has(dial)) return
      if (!this.#running) return dial.fail(transportError('SHUTTING_DOWN'))
      if (peerId === undefined) return dial.fail(transportError('DIAL_FAILED', 'signals go to an id'))
      const startedMs = clock.monotonicMs()
      const events: Offered['events'] = {
        onOpen: (connection) => {
          this.#dials.delete(dial)
          request.onOpen(connection)
        },
        onFail: (error) => {
          const isQuick = clock.monotonicMs() - startedMs < this.#settings.quickFailMs
          if (retriesLeft === 0 || !isQuick || attempt?.hasChannel === true || error.code !== 'DIAL_FAILED')
            return dial.fail(error)
          this.counters.retries++
          attemptWith(retriesLeft - 1)
        },
      }
      attempt = this.#takeUp(peerId, events, first)
      if (attempt !== undefined) return attempt.allow(deadlineMs - startedMs)
      if (this.#isFull) return dial.fail(transportError('TOO_MANY_CONNECTIONS'))
      const options = { peerId, sessionId: this.#newSessionId(), side: 'outbound', first } as const
      attempt = this.#attempt({ ...options, timeoutMs: deadlineMs - startedMs }, events)
      attempt.start()
    }
    this.#dials.add(dial)
    clock.endOfTurn(() => attemptWith(this.#settings.maxQuickRetries))
    return () => {
      if (this.#dials.delete(dial) && attempt) this.#end(attempt, 'UNUSED')
    }
  }

  offerOpenly({ signalDelayMs, send }: OpenOfferRequest): OpenOffer | undefined {
    const { iceTransportPolicy } = this.#settings
    if (!this.#running || this.#isFull) return undefined
    // What is reached by a tunnel may not be there yet.
    if (iceTransportPolicy === 'relay' && this.#iceServers.length === 0) return undefined
    const sessionId = this.#newSessionId()
    const first = (): Uint8Array | undefined => offered.first?.()
    const options = { peerId: undefined, sessionId, side: 'outbound', signalDelayMs, first } as const
    const offered: Offered = {
      first: undefined,
      attempt: this.#attempt(
        { ...options, timeoutMs: this.#settings.dialTimeoutMs },
        {
          onOpenSignal: send,
          onOpen: (connection, channel) => offered.events.onOpen(connection, channel),
          onFail: (error) => offered.events.onFail(error),
        },
      ),
      events: {
        // The peer may have another connection with this node: closing this one as unused could end their link.
        onOpen: (connection) => {
          this.#forgetTaken(offered)
          this.onInbound(connection)
        },
        onFail: () => this.#forgetTaken(offered),
      },
    }
    const { attempt } = offered
    this.counters.openOffers++
    this.#modules.clock.endOfTurn(() => attempt.start())
    return {
      sessionId,
      taken: (peerId) => this.#bind(offered, peerId),
      withdraw: () => attempt.peerId === undefined && this.#end(attempt, 'UNUSED'),
    }
  }

  roleWith(peerId: NodeId): 'dial' | 'wait' | undefined {
    const underWay = [...this.#attempts.values()].filter(
      (attempt) => attempt.peerId === peerId && !attempt.isOver,
    )
    if (underWay.some(({ options }) => options.side === 'outbound')) return 'dial'
    return underWay.length > 0 ? 'wait' : undefined
  }

  #bind(offered: Offered, peerId: NodeId): void {
    const { attempt } = offered
    if (attempt.peerId !== undefined || this.#attempts.get(keyOf(attempt)) !== attempt) return
    this.#attempts.delete(keyOf(attempt))
    attempt.bind(peerId)
    this.#attempts.set(keyOf(attempt), attempt)
    this.#taken.set(peerId, offered)
  }

  /** The attempt at the peer that is under way since before it was chosen. */
  #takeUp(peerId: NodeId, events: Offered['events'], first: Offered['first']): Attempt | undefined {
    const offered = this.#taken.get(peerId)
    if (offered === undefined) return undefined
    this.#taken.delete(peerId)
    offered.events = events
    offered.first = first
    return offered.attempt
  }

  #forgetTaken(offered: Offered): void {
    const { peerId } = offered.attempt
    if (peerId !== undefined && this.#taken.get(peerId) === offered) this.#taken.delete(peerId)
  }

  /** Takes a signal from the tracker: `peerId` is the sender, which the tracker vouches for. */
  handleSignal(signal: Signal): void {
    if (signal.kind === 'offer') return this.#offered(signal)
    const { peerId, sessionId } = signal
    const attempt =
      this.#attempts.get(keyFor(peerId, sessionId, 'outbound')) ??
      this.#attempts.get(keyFor(peerId, sessionId, 'inbound'))
    if (attempt) attempt.handle(signal.kind, signal.payload)
    else this.counters.signalsIgnored++
  }

  #offered({ peerId, sessionId, payload }: Signal): void {
    const isKnown = (side: 'outbound' | 'inbound') => this.#attempts.has(keyFor(peerId, sessionId, side))
    if (isKnown('inbound')) {
      this.counters.signalsIgnored++
      return
    }
    // With the id of a session of ours, candidates could not be told apart.
    if (!this.#running || isKnown('outbound')) return this.#refuse(peerId, sessionId, 'DIAL_FAILED')
    if (this.#isFull || this.#hasTooManyOffersOf(peerId)) {
      this.counters.offersRefused++
      return this.#refuse(peerId, sessionId, 'TOO_MANY_CONNECTIONS')
    }
    const attempt = this.#attempt(
      { peerId, sessionId, side: 'inbound', timeoutMs: this.#settings.dialTimeoutMs },
      {
        onOpen: (connection) => this.onInbound(connection),
        onFail: () => {
          this.counters.failed++
          this.onInboundFailed(peerId)
        },
      },
    )
    attempt.start(payload)
  }

  #attempt(
    which: Pick<AttemptOptions, 'peerId' | 'sessionId' | 'side' | 'timeoutMs' | 'signalDelayMs' | 'first'>,
    events: Pick<AttemptEvents, 'onOpen' | 'onFail' | 'onOpenSignal'>,
  ): Attempt {
    const { bindAddress, portRange, iceTransportPolicy, maxCandidates } = this.#settings
    const peerConnection = {
      iceServers: this.#iceServers,
      iceTransportPolicy,
      ...(bindAddress === undefined ? {} : { bindAddress }),
      ...(portRange === undefined ? {} : { portRange }),
    }
    const { peerId } = which
    const signalDelayMs = peerId && this.#modules.signalling.delayMs?.(peerId)
    const options = { signalDelayMs, ...which, maxCandidates, peerConnection }
    const forget = (): void => {
      // A later attempt may have the key of one that has opened.
      if (this.#attempts.get(keyOf(attempt)) === attempt) this.#attempts.delete(keyOf(attempt))
    }
    const attempt = new Attempt(options, this.#modules, {
      ...(events.onOpenSignal && { onOpenSignal: events.onOpenSignal }),
      onCandidateDropped: () => this.counters.candidatesDropped++,
      onChannel: (channel) => this.#hold(channel, forget),
      onOpen: (connection, channel) => {
        forget()
        this.#channels.set(channel, connection)
        this.counters.opened++
        events.onOpen(connection, channel)
      },
      onFail: (error) => {
        // The channel of a failed handshake closes in its own time, and takes the place of an attempt until then.
        if (!attempt.hasChannel) forget()
        events.onFail(error)
      },
    })
    this.#attempts.set(keyOf(attempt), attempt)
    return attempt
  }

  #hold(channel: RtcChannel, onGone: () => void): void {
    this.#channels.set(channel, undefined)
    channel.onGone = () => {
      onGone()
      this.#channels.delete(channel)
      if (this.#channels.size > 0) return
      for (const resolve of this.#waitingForEnd.splice(0)) resolve()
    }
  }

  #end(attempt: Attempt, code: TransportErrorCode): void {
    this.#attempts.delete(keyOf(attempt))
    attempt.cancel(code)
  }

  #refuse(peerId: NodeId, sessionId: number, code: TransportErrorCode): void {
    this.#modules.signalling.send({ type: 'signal', peerId, sessionId, kind: 'reject', payload: code })
  }

  /** An attempt that has its channel counts only once, as a channel. */
  get #isFull(): boolean {
    let negotiating = 0
    for (const attempt of this.#attempts.values()) if (!attempt.hasChannel) negotiating++
    return this.#channels.size + negotiating >= this.#settings.maxConnections
  }

  #hasTooManyOffersOf(peerId: NodeId): boolean {
    const inbound = [...this.#attempts.values()].filter(({ options }) => options.side === 'inbound')
    const ofPeer = inbound.filter((attempt) => attempt.peerId === peerId)
    return (
      inbound.length >= this.#settings.maxPendingInbound ||
      ofPeer.length >= this.#settings.maxPendingInboundPerPeer
    )
  }

  #newSessionId(): number {
    return Math.floor(this.#modules.random.next() * 2 ** 32)
  }
}

function isCarrier(server: string | IceServer): boolean {
  return /^wss?:/.test(typeof server === 'string' ? server : server.url)
}

function keyOf({ peerId, options: { sessionId, side } }: Attempt): string {
  return keyFor(peerId, sessionId, side)
}

function keyFor(peerId: NodeId | undefined, sessionId: number, side: AttemptOptions['side']): string {
  return `${peerId} ${sessionId} ${side}`
}
