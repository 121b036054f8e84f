import type { Clock, RunnelError, SignalKind } from '@runnel/protocol'

import { transportError, transportErrors, type TransportErrorCode } from '../errors.ts'
import { decodeCandidate, encodeCandidate } from './candidate.ts'
import type {
  CreatePeerConnection,
  DataChannelPort,
  DescriptionKind,
  PeerConnectionOptions,
  PeerConnectionPort,
  RtcCandidate,
} from './peer-connection-port.ts'
import { RtcChannel } from './rtc-channel.ts'
import {
  agreeingOnChannel,
  agreesOnChannel,
  carriedHello,
  carryingHello,
  channelBinding,
  fingerprintOf,
  repeatsHello,
  tellingDelay,
  toldDelayMs,
  withOffererAsDtlsClient,
  withoutOurLines,
} from './sdp.ts'

export interface NegotiationOptions {
  readonly peerConnection: PeerConnectionOptions
  /** Remote candidates accepted; more are dropped and counted. */
  readonly maxCandidates: number
  /** How long signals take from here to the tracker, in milliseconds; absent while that is not known. */
  readonly signalDelayMs?: number | undefined
}

export interface NegotiationModules {
  readonly clock: Clock
  readonly createPeerConnection: CreatePeerConnection
  /** This side's hello, as a frame; the same each time. */
  hello(): Uint8Array
  /** False when there is no way to the peer. */
  send(kind: SignalKind, payload: string): boolean
  onCandidateDropped(): void
  /** The channel is open; this negotiation is over. With the other's hello where its description carried one. */
  onChannel(channel: RtcChannel, hello: Uint8Array | undefined): void
  /** It failed; everything is closed. Neither is called after `close`. */
  onFail(error: RunnelError): void
}

/**
 * One attempt at one peer connection, from an offer to an open data channel.
 *
 *   idle ─offer()─▶ offered ─answer─▶ connecting ─▶ open     (offerer)
 *   idle ─accept(offer)─────────────▶ connecting ─▶ open     (answerer)
 *   any but open ─▶ closed
 */
export class Negotiation {
  readonly #options: NegotiationOptions
  readonly #modules: NegotiationModules
  #state: 'idle' | 'offered' | 'connecting' | 'open' | 'closed' = 'idle'
  #peerConnection: PeerConnectionPort | undefined
  #channel: RtcChannel | undefined
  #localSdp = ''
  #remoteSdp = ''
  /** Candidates that came before the remote description. */
  #early: RtcCandidate[] = []
  #candidateCount = 0

  constructor(options: NegotiationOptions, modules: NegotiationModules) {
    this.#options = options
    this.#modules = modules
  }

  /** As of a Channel. Throws PROTOCOL_VIOLATION before both descriptions are known. */
  get binding(): Uint8Array {
    return channelBinding(this.#localSdp, this.#remoteSdp)
  }

  offer(): void {
    this.#attempt(() => {
      this.#state = 'offered'
      this.#create(this.#options.peerConnection).offer()
    })
  }

  accept(offerSdp: string): void {
    this.#attempt(() => {
      fingerprintOf(offerSdp)
      const signalDelayMs = sum(this.#options.signalDelayMs, toldDelayMs(offerSdp))
      this.#create({ ...this.#options.peerConnection, signalDelayMs })
      this.#setRemote('offer', withOffererAsDtlsClient(offerSdp))
    })
  }

  /** Takes a signal of this session from the peer. */
  handle(kind: Exclude<SignalKind, 'offer'>, payload: string): void {
    this.#attempt(() => {
      if (kind === 'reject') return this.#fail(rejection(payload))
      if (kind === 'candidate') return this.#remoteCandidate(payload)
      if (this.#state !== 'offered') throw transportError('PROTOCOL_VIOLATION', 'an answer out of turn')
      fingerprintOf(payload)
      // Its sender is of 1.0, and its library has put lines of the offer into it.
      const isEcho = repeatsHello(payload, this.#modules.hello())
      this.#setRemote('answer', isEcho ? withoutOurLines(payload) : payload)
    })
  }

  close(): void {
    if (this.#state === 'closed' || this.#state === 'open') return
    this.#state = 'closed'
    this.#peerConnection?.close()
  }

  #create(options: PeerConnectionOptions): PeerConnectionPort {
    this.#peerConnection = this.#modules.createPeerConnection(options, {
      onDescription: (kind, sdp) => this.#described(kind, sdp),
      onCandidate: (candidate) => this.#localCandidate(candidate),
      onOpen: (channel) => this.#opened(channel),
      onLane: (label, channel) => this.#channel?.addToLane(label, channel),
      onClose: (text) => this.#peerConnectionClosed(text),
    })
    return this.#peerConnection
  }

  #setRemote(kind: DescriptionKind, sdp: string): void {
    this.#remoteSdp = sdp
    this.#state = 'connecting'
    this.#peerConnection?.setRemote(kind, withoutOurLines(sdp), agreesOnChannel(sdp))
    const early = this.#early
    this.#early = []
    for (const candidate of early) this.#add(candidate)
  }

  #remoteCandidate(payload: string): void {
    const candidate = decodeCandidate(payload)
    if (!candidate || ++this.#candidateCount > this.#options.maxCandidates) {
      return this.#modules.onCandidateDropped()
    }
    if (this.#state === 'connecting') this.#add(candidate)
    else this.#early.push(candidate)
  }

  #add(candidate: RtcCandidate): void {
    try {
      if (this.#peerConnection?.addCandidate(candidate)) return
    } catch {
      // One bad candidate does not affect the others.
    }
    this.#modules.onCandidateDropped()
  }

  #described(kind: DescriptionKind, sdp: string): void {
    if (this.#isOver) return
    this.#localSdp = sdp
    const isOffer = kind === 'offer'
    // An answer takes up what the offer proposes.
    let told = isOffer ? tellingDelay(sdp, this.#options.signalDelayMs) : sdp
    if (isOffer || carriedHello(this.#remoteSdp)) told = carryingHello(told, this.#modules.hello())
    if (isOffer || agreesOnChannel(this.#remoteSdp)) told = agreeingOnChannel(told)
    if (!this.#modules.send(kind, told)) this.#fail(transportError('NO_SIGNALLING'))
  }

  #localCandidate(candidate: RtcCandidate): void {
    if (!this.#isOver) this.#modules.send('candidate', encodeCandidate(candidate))
  }

  #opened(port: DataChannelPort): void {
    if (this.#isOver || !this.#peerConnection) return
    const { binding } = this
    this.#state = 'open'
    this.#channel = new RtcChannel(
      { channel: port, peerConnection: this.#peerConnection, binding },
      { clock: this.#modules.clock },
    )
    this.#modules.onChannel(this.#channel, carriedHello(this.#remoteSdp))
  }

  #peerConnectionClosed(text: string): void {
    if (this.#channel) return this.#channel.gone(text)
    this.#fail(transportError('DIAL_FAILED', text))
  }

  /** An error in a step ends the negotiation and nothing else. */
  #attempt(step: () => void): void {
    if (this.#isOver) return
    try {
      step()
    } catch (error) {
      this.#fail(asTransportError(error))
    }
  }

  get #isOver(): boolean {
    return this.#state === 'closed' || this.#state === 'open'
  }

  #fail(error: RunnelError): void {
    if (this.#isOver) return
    this.close()
    this.#modules.onFail(error)
  }
}

function sum(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? undefined : a + b
}

/** Only known codes are trusted; the rest of a peer's text is shown to nobody. */
function rejection(payload: string): RunnelError {
  const code = (Object.hasOwn(transportErrors, payload) ? payload : 'DIAL_FAILED') as TransportErrorCode
  return transportError(code, 'the other side refused')
}

function asTransportError(error: unknown): RunnelError {
  if (error instanceof Error && 'code' in error && Object.hasOwn(transportErrors, String(error.code))) {
    return error as RunnelError
  }
  return transportError('DIAL_FAILED', String(error).slice(0, 200), { cause: error })
}
