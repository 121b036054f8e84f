/// <reference lib="dom" />
import type { IceServer } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { LinkPath } from '../ports.ts'
import { addressOf, pathOf, remoteAddressOf } from '../webrtc/candidate.ts'
import { parseIceServer } from '../webrtc/ice-server.ts'
import { EventGuard } from '../webrtc/event-guard.ts'
import {
  firstChannel,
  isLaneLabel,
  type DescriptionKind,
  type LaneLabel,
  type LaneOptions,
  type PeerConnectionEvents,
  type PeerConnectionOptions,
  type PeerConnectionPort,
  type RtcCandidate,
} from '../webrtc/peer-connection-port.ts'
import { BrowserDataChannel } from './data-channel.ts'
import { pageInflow } from './inflow.ts'

/** A peer connection of the browser. Throws NO_WEBRTC where there is none. */
export function createPeerConnection(
  options: PeerConnectionOptions,
  events: PeerConnectionEvents,
): PeerConnectionPort {
  return new BrowserPeerConnection(options, events)
}

class BrowserPeerConnection implements PeerConnectionPort {
  readonly #native: RTCPeerConnection
  readonly #events: PeerConnectionEvents
  readonly #guard: EventGuard
  #channel: BrowserDataChannel | undefined
  readonly #lanesOfOther = new Set<LaneLabel>()
  /** Candidates that the browser found before it gave the description; they are reported after it. */
  #early: RtcCandidate[] | undefined = []

  constructor({ iceServers, iceTransportPolicy }: PeerConnectionOptions, events: PeerConnectionEvents) {
    if (typeof RTCPeerConnection !== 'function') throw transportError('NO_WEBRTC')
    this.#events = events
    this.#native = new RTCPeerConnection({ iceServers: iceServers.map(nativeIceServer), iceTransportPolicy })
    this.#guard = new EventGuard({
      close: () => this.#native.close(),
      onClose: (text) => events.onClose(text),
    })
    this.#native.onicecandidate = ({ candidate }) => this.#guard.run(() => this.#found(candidate))
    this.#native.onconnectionstatechange = () => {
      const state = this.#native.connectionState
      if (state !== 'failed' && state !== 'closed') return
      pageInflow.andThen(() => this.#guard.run(() => this.#guard.fail(`the peer connection ${state}`)))
    }
    this.#native.ondatachannel = ({ channel }) => this.#guard.run(() => this.#adopt(channel))
  }

  get path(): LinkPath | undefined {
    return pathOf(() => this.#native.sctp?.transport.iceTransport.getSelectedCandidatePair())
  }

  get remoteAddress(): string | undefined {
    return remoteAddressOf(() => this.#native.sctp?.transport.iceTransport.getSelectedCandidatePair())
  }

  offer(): void {
    this.#create(firstChannel.agreed)
    this.#describe('offer', async () => {})
  }

  setRemote(kind: DescriptionKind, sdp: string, agrees: boolean): void {
    const applied = this.#native.setRemoteDescription({ type: kind, sdp })
    if (kind === 'offer' && agrees) this.#create(firstChannel.agreed)
    if (kind === 'answer' && !agrees) {
      const agreed = this.#channel
      this.#create({})
      agreed?.close()
    }
    if (kind === 'offer') this.#describe('answer', () => applied)
    else applied.catch((error: unknown) => this.#guard.run(() => this.#guard.fail(String(error))))
  }

  #create(options: RTCDataChannelInit): void {
    this.#hold(this.#native.createDataChannel(firstChannel.label, options))
  }

  /**
   * Names are not looked up: otherwise a stranger could make us query any name server. Other browsers' `.local` names are
   * resolved by multicast on the local network only (RFC 8828 and the mDNS candidates of browsers).
   */
  addCandidate({ candidate, mid }: RtcCandidate): boolean {
    if (!isUsableAddress(addressOf(candidate))) return false
    // One bad candidate does not spoil the others.
    this.#native.addIceCandidate({ candidate, sdpMid: mid }).catch(() => undefined)
    return true
  }

  openLane({ label, maxLifeMs }: LaneOptions): void {
    const reliability = maxLifeMs === undefined ? { maxRetransmits: 0 } : { maxPacketLifeTime: maxLifeMs }
    this.#addLane(label, this.#native.createDataChannel(label, { ordered: false, ...reliability }))
  }

  close(): void {
    this.#guard.close()
  }

  #describe(kind: DescriptionKind, ready: () => Promise<void>): void {
    const described = async (): Promise<void> => {
      await ready()
      await this.#native.setLocalDescription()
      this.#guard.run(() => {
        this.#events.onDescription(kind, this.#native.localDescription?.sdp ?? '')
        const early = this.#early ?? []
        this.#early = undefined
        for (const candidate of early) this.#events.onCandidate(candidate)
      })
    }
    described().catch((error: unknown) => this.#guard.run(() => this.#guard.fail(String(error))))
  }

  #found(found: RTCIceCandidate | null): void {
    // An empty candidate means that there are no more; our side need not know.
    if (!found?.candidate) return
    const candidate = { mid: found.sdpMid ?? '0', candidate: found.candidate }
    if (this.#early) this.#early.push(candidate)
    else this.#events.onCandidate(candidate)
  }

  #adopt(native: RTCDataChannel): void {
    if (this.#channel === undefined) return this.#hold(native)
    const { label } = native
    if (!isLaneLabel(label) || this.#lanesOfOther.has(label)) return native.close()
    this.#lanesOfOther.add(label)
    this.#addLane(label, native)
  }

  #addLane(label: LaneLabel, native: RTCDataChannel): void {
    const lane = new BrowserDataChannel(native, this.#guard.run)
    lane.whenOpen(() => this.#events.onLane(label, lane))
  }

  #hold(native: RTCDataChannel): void {
    const channel = new BrowserDataChannel(native, this.#guard.run)
    this.#channel = channel
    const onClose = () => channel === this.#channel && this.#guard.fail('the data channel closed')
    channel.events = { ...channel.events, onClose }
    channel.whenOpen(() => this.#events.onOpen(channel))
  }
}

function isUsableAddress(address: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(address) || address.includes(':') || address.endsWith('.local')
}

function nativeIceServer(server: IceServer): RTCIceServer {
  const { scheme, username, credential } = parseIceServer(server)
  return scheme === 'stun' ? { urls: server.url } : { urls: server.url, username, credential }
}
