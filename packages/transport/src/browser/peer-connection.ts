/// <reference lib="dom" />
import type { IceServer } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { LinkPath } from '../ports.ts'
import { addressOf, pathOf } from '../webrtc/candidate.ts'
import { parseIceServer } from '../webrtc/ice-server.ts'
import { EventGuard } from '../webrtc/event-guard.ts'
import {
  dataChannelLowMarkBytes,
  maxDataChannelFrameBytes,
  type DataChannelEvents,
  type DataChannelPort,
  type DescriptionKind,
  type PeerConnectionEvents,
  type PeerConnectionOptions,
  type PeerConnectionPort,
  type RtcCandidate,
} from '../webrtc/peer-connection-port.ts'
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
  /** Candidates that the browser found before it gave the description: those come after it. */
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

  offer(): void {
    this.#hold(this.#native.createDataChannel('runnel'))
    this.#describe('offer', async () => {})
  }

  setRemote(kind: DescriptionKind, sdp: string): void {
    const applied = this.#native.setRemoteDescription({ type: kind, sdp })
    if (kind === 'offer') this.#describe('answer', () => applied)
    else applied.catch((error: unknown) => this.#guard.run(() => this.#guard.fail(String(error))))
  }

  /**
   * Names are not looked up: a stranger could make us ask any name server anything. Other browsers' `.local` names are
   * multicast on the own network only (RFC 8828 and the mDNS candidates of browsers).
   */
  addCandidate({ candidate, mid }: RtcCandidate): boolean {
    if (!isUsableAddress(addressOf(candidate))) return false
    // One bad candidate does not spoil the others.
    this.#native.addIceCandidate({ candidate, sdpMid: mid }).catch(() => undefined)
    return true
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
    // An empty one says that there are no more; ours need not know.
    if (!found?.candidate) return
    const candidate = { mid: found.sdpMid ?? '0', candidate: found.candidate }
    if (this.#early) this.#early.push(candidate)
    else this.#events.onCandidate(candidate)
  }

  #adopt(native: RTCDataChannel): void {
    if (this.#channel) native.close()
    else this.#hold(native)
  }

  #hold(native: RTCDataChannel): void {
    const channel = new BrowserDataChannel(native, this.#guard.run)
    this.#channel = channel
    channel.events = { ...channel.events, onClose: () => this.#guard.fail('the data channel closed') }
    channel.whenOpen(() => this.#events.onOpen(channel))
  }
}

class BrowserDataChannel implements DataChannelPort {
  events: DataChannelEvents = { onMessage() {}, onText() {}, onLow() {}, onClose() {} }
  readonly #native: RTCDataChannel
  readonly #guard: EventGuard['run']

  constructor(native: RTCDataChannel, guard: EventGuard['run']) {
    this.#native = native
    this.#guard = guard
    native.binaryType = 'arraybuffer'
    native.onbufferedamountlow = () =>
      guard(() => {
        this.events.onLow()
        this.#watchForLow()
      })
    native.onclose = () => pageInflow.andThen(() => guard(() => this.events.onClose()))
    native.onmessage = ({ data }: MessageEvent<unknown>) => this.#received(data)
  }

  #received(data: unknown): void {
    const onMessage = (message: Uint8Array): void => this.#guard(() => this.events.onMessage(message))
    if (!(data instanceof ArrayBuffer)) pageInflow.andThen(() => this.#guard(() => this.events.onText()))
    else if (data.byteLength <= maxDataChannelFrameBytes) pageInflow.receive(new Uint8Array(data), onMessage)
    // Too large: whole, so that it is found to be.
    else pageInflow.andThen(() => onMessage(new Uint8Array(data)))
  }

  /** Calls once. A channel that the other side made may be open when it is first seen, and say so all the same. */
  whenOpen(onOpen: () => void): void {
    if (this.#native.readyState === 'open') return onOpen()
    this.#native.onopen = () => this.#guard(onOpen)
  }

  get bufferedBytes(): number {
    return this.#native.bufferedAmount
  }

  send(message: Uint8Array<ArrayBuffer>): void {
    this.#native.send(message)
    this.#watchForLow()
  }

  /** The next event is due at half of what is buffered now, so that one comes whatever the marks of the connection are. */
  #watchForLow(): void {
    this.#native.bufferedAmountLowThreshold = Math.min(
      dataChannelLowMarkBytes,
      Math.floor(this.#native.bufferedAmount / 2),
    )
  }
}

function isUsableAddress(address: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(address) || address.includes(':') || address.endsWith('.local')
}

function nativeIceServer(server: IceServer): RTCIceServer {
  const { scheme, username, credential } = parseIceServer(server)
  return scheme === 'stun' ? { urls: server.url } : { urls: server.url, username, credential }
}
