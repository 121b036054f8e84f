import { isIP } from 'node:net'

import type { Cancel, IceServer } from '@runnel/protocol'
import type {
  DataChannel,
  DataChannelInitConfig,
  IceServer as NativeIceServer,
  PeerConnection,
  RtcConfig,
} from 'node-datachannel'

import type { LinkPath } from '../ports.ts'
import { addressOf, pathOf, remoteAddressOf } from './candidate.ts'
import { CandidateHold, type AwaitedKind } from './candidate-hold.ts'
import { EventGuard } from './event-guard.ts'
import { parseIceServer } from './ice-server.ts'
import { nodeDataChannel } from './node-data-channel.ts'
import {
  firstChannel,
  isLaneLabel,
  maxDataChannelFrameBytes,
  type DataChannelEvents,
  type DataChannelPort,
  type DescriptionKind,
  type LaneLabel,
  type LaneOptions,
  type PeerConnectionEvents,
  type PeerConnectionOptions,
  type PeerConnectionPort,
  type RtcCandidate,
} from './peer-connection-port.ts'

/**
 * What a data channel holds before it is given no more: enough for a turn of the event loop. Behind it is the buffer of the association, which is
 * always full first, and what is in either cannot be overtaken: see `nodeDataChannel`.
 */
const fullBytes = 64 * 1024
/** A data channel reports room when it holds no more than this. */
const lowMarkBytes = 32 * 1024

/**
 * A peer connection of node-datachannel. The library's global `cleanup` is never called: a process exits without it once every
 * peer connection is closed, and with one open it would wait ten seconds and throw. Throws WEBRTC_MISSING.
 */
export function createPeerConnection(
  options: PeerConnectionOptions,
  events: PeerConnectionEvents,
): PeerConnectionPort {
  return new NodePeerConnection(options, events)
}

class NodePeerConnection implements PeerConnectionPort {
  readonly #native: PeerConnection
  readonly #events: PeerConnectionEvents
  readonly #guard: EventGuard
  /** Referenced because an unreferenced data channel is collected, and closes. */
  #channel: NodeDataChannel | undefined
  /** Of lanes: opened by this side, of which some are not open yet, and by the other. */
  readonly #ownLanes = new Map<LaneLabel, NodeDataChannel>()
  readonly #openingLanes = new Set<NodeDataChannel>()
  readonly #othersLanes = new Map<LaneLabel, NodeDataChannel>()
  /** Set for an answerer, which waits until its outer address or its relay is known. */
  #candidates: CandidateHold | undefined
  /** What an answerer waits for; undefined where it can find nothing. */
  readonly #awaits: AwaitedKind | undefined
  readonly #signalDelayMs: number | undefined
  #open = false

  constructor(options: PeerConnectionOptions, events: PeerConnectionEvents) {
    this.#events = events
    const { iceServers, iceTransportPolicy, signalDelayMs } = options
    this.#signalDelayMs = signalDelayMs
    if (iceServers.length > 0) this.#awaits = iceTransportPolicy === 'all' ? 'srflx' : 'relay'
    this.#native = new (nodeDataChannel().PeerConnection)('runnel', nativeConfig(options))
    this.#guard = new EventGuard({
      close: () => this.#closeNative(),
      onClose: (text) => events.onClose(text),
    })
    this.#native.onLocalDescription((sdp, kind) =>
      this.#guard.run(() => {
        if (kind === 'offer' || kind === 'answer') events.onDescription(kind, sdp)
      }),
    )
    this.#native.onLocalCandidate((candidate, mid) =>
      this.#guard.run(() => {
        events.onCandidate({ mid, candidate })
        this.#candidates?.found(candidate)
      }),
    )
    this.#native.onStateChange((state) =>
      this.#guard.run(() => {
        if (state === 'failed' || state === 'closed') this.#guard.fail(`the peer connection ${state}`)
      }),
    )
    if (iceTransportPolicy === 'relay')
      this.#native.onGatheringStateChange((state) =>
        this.#guard.run(() => {
          if (state === 'complete' && !this.#hasCandidate) this.#guard.fail('no TURN server gave a relay')
        }),
      )
    this.#native.onDataChannel((channel) => this.#guard.run(() => this.#adopt(channel)))
  }

  get path(): LinkPath | undefined {
    return pathOf(() => this.#native.getSelectedCandidatePair())
  }

  get remoteAddress(): string | undefined {
    return remoteAddressOf(() => this.#native.getSelectedCandidatePair())
  }

  /** By the description: whatever order the library's events come in. */
  get #hasCandidate(): boolean {
    return /^a=candidate:/m.test(this.#native.localDescription()?.sdp ?? '')
  }

  offer(): void {
    this.#create(firstChannel.agreed)
  }

  setRemote(kind: DescriptionKind, sdp: string, agrees: boolean): void {
    if (kind === 'offer' && this.#awaits !== undefined)
      this.#candidates = new CandidateHold(
        { awaits: this.#awaits, signalDelayMs: this.#signalDelayMs },
        { schedule },
      )
    this.#native.setRemoteDescription(sdp, kind)
    if (kind === 'offer' && agrees) this.#create(firstChannel.agreed)
    if (kind === 'answer' && !agrees) {
      const agreed = this.#channel
      this.#create({})
      agreed?.close()
    }
  }

  #create(config: DataChannelInitConfig): void {
    const native = this.#native.createDataChannel(firstChannel.label, config)
    const channel = this.#hold(native)
    native.onOpen(() => this.#guard.run(() => this.#opened(channel)))
  }

  /**
   * Names are not looked up: otherwise a stranger could make us query any name server, and browsers' `.local` names
   * resolve nowhere.
   */
  addCandidate({ candidate, mid }: RtcCandidate): boolean {
    if (isIP(addressOf(candidate)) === 0) return false
    const take = () => this.#native.addRemoteCandidate(candidate, mid)
    if (this.#candidates === undefined) take()
    else this.#candidates.add(candidate, take)
    return true
  }

  openLane({ label, maxLifeMs }: LaneOptions): void {
    const reliability = maxLifeMs === undefined ? { maxRetransmits: 0 } : { maxPacketLifeTime: maxLifeMs }
    const native = this.#native.createDataChannel(label, { unordered: true, ...reliability })
    const lane = new NodeDataChannel(native, this.#guard.run)
    this.#ownLanes.set(label, lane)
    this.#openingLanes.add(lane)
    native.onOpen(() =>
      this.#guard.run(() => {
        this.#openingLanes.delete(lane)
        this.#laneOpened(label, lane)
      }),
    )
  }

  close(): void {
    this.#guard.close()
  }

  #closeNative(): void {
    this.#candidates?.close()
    // What never opened must be closed explicitly, or its callbacks keep the process alive. What is open must not be: if the
    // other side closed it at the same instant, the library would lose the event that releases them.
    if (!this.#open) this.#channel?.close()
    for (const lane of this.#openingLanes) lane.close()
    this.#native.close()
  }

  #adopt(native: DataChannel): void {
    if (this.#channel === undefined) return this.#opened(this.#hold(native))
    const label = native.getLabel()
    if (!isLaneLabel(label) || this.#othersLanes.has(label)) return native.close()
    const lane = new NodeDataChannel(native, this.#guard.run)
    this.#othersLanes.set(label, lane)
    this.#laneOpened(label, lane)
  }

  #laneOpened(label: LaneLabel, lane: NodeDataChannel): void {
    this.#events.onLane(label, lane)
    lane.start()
  }

  #hold(native: DataChannel): NodeDataChannel {
    const channel = new NodeDataChannel(native, this.#guard.run)
    const onClose = () => channel === this.#channel && this.#guard.fail('the data channel closed')
    channel.events = { ...channel.events, onClose }
    this.#channel = channel
    return channel
  }

  #opened(channel: NodeDataChannel): void {
    this.#open = true
    channel.tellRoom()
    channel.start()
    this.#events.onOpen(channel)
  }
}

class NodeDataChannel implements DataChannelPort {
  readonly fullBytes = fullBytes
  readonly #native: DataChannel
  events: DataChannelEvents = { onMessage() {}, onText() {}, onLow() {}, onClose() {} }

  readonly #guard: EventGuard['run']

  constructor(native: DataChannel, guard: EventGuard['run']) {
    this.#native = native
    this.#guard = guard
    native.onClosed(() => guard(() => this.events.onClose()))
  }

  /** Lets messages in. The library keeps them until then, which may be before it reports the channel as open. */
  start(): void {
    this.#native.onMessage((message) =>
      this.#guard(() => {
        if (typeof message === 'string') this.events.onText()
        else this.events.onMessage(message instanceof ArrayBuffer ? new Uint8Array(message) : message)
      }),
    )
  }

  /** Reports room from now on. Only where somebody waits for it: the process looks at each event that it listens to whenever the library wakes it. */
  tellRoom(): void {
    this.#native.setBufferedAmountLowThreshold(lowMarkBytes)
    this.#native.onBufferedAmountLow(() => this.#guard(() => this.events.onLow()))
  }

  get bufferedBytes(): number {
    return this.#native.bufferedAmount()
  }

  send(message: Uint8Array): void {
    this.#native.sendMessageBinary(message)
  }

  close(): void {
    this.#native.close()
  }
}

function schedule(ms: number, action: () => void): Cancel {
  const timer = setTimeout(action, ms)
  return () => clearTimeout(timer)
}

function nativeConfig(options: PeerConnectionOptions): RtcConfig {
  return {
    iceServers: options.iceServers.map(nativeIceServer),
    iceTransportPolicy: options.iceTransportPolicy,
    maxMessageSize: maxDataChannelFrameBytes,
    ...(options.bindAddress === undefined ? {} : { bindAddress: options.bindAddress }),
    ...(options.portRange === undefined
      ? {}
      : { portRangeBegin: options.portRange[0], portRangeEnd: options.portRange[1] }),
  }
}

const relayTypes = { udp: 'TurnUdp', tcp: 'TurnTcp' } as const

function nativeIceServer(server: IceServer): NativeIceServer {
  const { scheme, hostname, port, transport, username, credential } = parseIceServer(server)
  if (scheme === 'stun') return { hostname, port }
  const relayType = scheme === 'turns' ? 'TurnTls' : relayTypes[transport]
  return {
    hostname,
    port,
    username,
    password: credential,
    relayType: relayType,
  }
}
