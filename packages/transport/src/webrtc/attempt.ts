import { type Cancel, type NodeId, type RunnelError, type Signal, type SignalKind } from '@runnel/protocol'

import type { ConnectionModules } from '../connection/modules.ts'
import { Handshake } from '../connection/handshake.ts'
import { openConnection } from '../connection/open-connection.ts'
import { transportError, type TransportErrorCode } from '../errors.ts'
import type { Connection, DialRequest, OpenSignal, Signalling } from '../ports.ts'
import { Negotiation, type NegotiationOptions } from './negotiation.ts'
import type { CreatePeerConnection } from './peer-connection-port.ts'
import type { RtcChannel } from './rtc-channel.ts'

export interface AttemptOptions extends NegotiationOptions, Pick<DialRequest, 'first'> {
  /** Undefined for an offer whose peer is yet to be chosen: it is given by `bind`. */
  readonly peerId: NodeId | undefined
  /** Unsigned 32 bits, chosen by the side that offers. */
  readonly sessionId: number
  readonly side: 'outbound' | 'inbound'
  readonly timeoutMs: number
}

export interface AttemptModules extends ConnectionModules {
  readonly signalling: Signalling
  readonly createPeerConnection: CreatePeerConnection
}

export interface AttemptEvents {
  onChannel(channel: RtcChannel): void
  onCandidateDropped(): void
  /** A signal of this side, before there is a peer. False when it could not be sent. */
  onOpenSignal?(signal: OpenSignal): boolean
  /** One of these two, once, last; neither after `cancel`. */
  onOpen(connection: Connection, channel: RtcChannel): void
  onFail(error: RunnelError): void
}

/** One attempt at one link, by either side: a negotiation, then a handshake, within a time limit. */
export class Attempt {
  readonly options: AttemptOptions
  readonly #modules: AttemptModules
  readonly #events: AttemptEvents
  readonly #negotiation: Negotiation
  /** Its hello goes with the description, and by the channel where the other's did not. */
  readonly #handshake: Handshake
  #channel: RtcChannel | undefined
  #peerId: NodeId | undefined
  #isOver = false
  /** The other side has ended the session. */
  #rejected = false
  #cancelTimer: Cancel = () => {}
  #cancelHandshake: Cancel = () => {}

  constructor(options: AttemptOptions, modules: AttemptModules, events: AttemptEvents) {
    this.options = options
    this.#modules = modules
    this.#events = events
    this.#peerId = options.peerId
    this.#negotiation = new Negotiation(options, {
      clock: modules.clock,
      createPeerConnection: modules.createPeerConnection,
      hello: () => this.#handshake.hello(),
      send: (kind, payload) => this.#send(kind, payload),
      onCandidateDropped: () => events.onCandidateDropped(),
      onChannel: (channel, carriedHello) => this.#open(channel, carriedHello),
      onFail: (error) => this.#fail(error),
    })
    const peerId = (): NodeId | undefined => this.#peerId
    this.#handshake = new Handshake(
      {
        ...{ channel: this.#negotiation, direction: options.side, role: 'node' },
        get expectedPeerId() {
          return peerId()
        },
      },
      modules,
    )
  }

  get peerId(): NodeId | undefined {
    return this.#peerId
  }

  /** Says who must answer the offer, and where further signals go. */
  bind(peerId: NodeId): void {
    this.#peerId = peerId
  }

  /** Whether it has opened, failed or been given up. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether there is a data channel, so that what can still fail is the handshake. */
  get hasChannel(): boolean {
    return this.#channel !== undefined
  }

  /** Offers, or answers `offerSdp`; not once it is over. */
  start(offerSdp?: string): void {
    if (this.#isOver) return
    this.allow(this.options.timeoutMs)
    if (offerSdp === undefined) this.#negotiation.offer()
    else this.#negotiation.accept(offerSdp)
  }

  /** Fails in this many milliseconds, whatever it was allowed before, unless it is over by then. */
  allow(timeoutMs: number): void {
    this.#cancelTimer()
    this.#cancelTimer = this.#modules.clock.schedule(timeoutMs, () =>
      this.#fail(transportError('DIAL_TIMEOUT', `${timeoutMs} ms`)),
    )
  }

  handle(kind: Exclude<SignalKind, 'offer'>, payload: string): void {
    if (kind === 'reject') this.#rejected = true
    this.#negotiation.handle(kind, payload)
  }

  /** Gives up and tells the other side why. */
  cancel(code: TransportErrorCode): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelTimer()
    // A handshake closes the channel itself, once it has said why.
    if (this.#channel) return this.#cancelHandshake()
    this.#negotiation.close()
    if (!this.#rejected) this.#send('reject', code)
  }

  #open(channel: RtcChannel, carriedHello: Uint8Array | undefined): void {
    this.#channel = channel
    this.#events.onChannel(channel)
    const { first } = this.options
    const options = { channel, handshake: this.#handshake, carriedHello, first }
    this.#cancelHandshake = openConnection(options, this.#modules, {
      onOpen: (connection) => this.#opened(connection, channel),
      onFail: (error) => this.#fail(error),
    })
  }

  #opened(connection: Connection, channel: RtcChannel): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancelTimer()
    this.#events.onOpen(connection, channel)
  }

  #fail(error: RunnelError): void {
    if (this.#isOver) return
    this.cancel(error.code as TransportErrorCode)
    this.#events.onFail(error)
  }

  #send(kind: Signal['kind'], payload: string): boolean {
    const { sessionId } = this.options
    const peerId = this.#peerId
    if (peerId === undefined) return this.#events.onOpenSignal?.({ sessionId, kind, payload }) ?? false
    return this.#modules.signalling.send({ type: 'signal', peerId, sessionId, kind, payload })
  }
}
