import {
  buildBatch,
  createIdentity,
  loadCrypto,
  packetBytes,
  PacketType,
  toNodeId,
  toStreamId,
  toStreamPartId,
  delegationRef,
  encodeDelegation,
  isSignedByKey,
  signDelegation,
  verifyBatch,
  decodeBatch,
  readPackets,
  type ActingFor,
  type Delegation,
  type DelegationClaim,
  verifyMembership,
  type ChainHead,
  type Contact,
  type Extension,
  type Identity,
  type MessageBatch,
  type MessageRef,
  type MissingRange,
  type ControlPacket,
  type NodeId,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'
import { lightParts } from './light-parts.ts'
import { networkLimits, type NetworkLimits } from '../limits.ts'
import type { Equivocation, Gap, WithheldMessages } from '../ports.ts'
import type { OverlayEffects } from './overlay-effects.ts'
import type { OverlayEvent } from './events.ts'
import { Overlay } from './overlay.ts'

export const crypto = await loadCrypto()

export const identityOf = (number: number): Identity =>
  createIdentity(new Uint8Array(32).fill(number), crypto)

export const idOf = (number: number): NodeId => toNodeId(`0x${number.toString(16).padStart(40, '0')}`)
export const contact: Contact = { addresses: [{ kind: 'webrtc', text: '' }], dials: ['websocket', 'webrtc'] }
export const streamId = toStreamId(`0x${'a'.repeat(40)}/core`)
export const partId = toStreamPartId(streamId, 0)
export const startMs = Date.UTC(2025, 0, 1)

export interface BatchOptions {
  publisher?: Identity
  /** Signs for the publisher, under its delegation. */
  delegate?: { readonly identity: Identity; readonly delegation: Delegation }
  chainId?: string
  partition?: number
  previous?: MessageRef | undefined
  content?: readonly number[]
  /** Of each message. */
  extensions?: readonly Extension[]
}

/** A signed batch of messages at the given times or places, each after the one before. */
export function batchAt(places: readonly (number | MessageRef)[], options: BatchOptions = {}): MessageBatch {
  let previous = options.previous
  const messages = places.map((given) => {
    const place = typeof given === 'number' ? { timestamp: given, sequenceNumber: 0 } : given
    const message = {
      ...place,
      previous,
      contentType: 0,
      encryptionType: 0,
      groupKeyId: '',
      extensions: options.extensions,
      content: new Uint8Array(options.content ?? [1, 2, 3]),
    }
    previous = place
    return message
  })
  const identity = options.publisher ?? identityOf(7)
  const chain = {
    streamId,
    partition: options.partition ?? 0,
    publisherId: identity.nodeId,
    messageChainId: options.chainId ?? 'c',
  }
  const { delegate } = options
  if (delegate === undefined) return buildBatch({ chain, messages }, crypto, identity)
  const ref = delegationRef(encodeDelegation(delegate.delegation), crypto)
  return buildBatch({ chain, messages }, crypto, { ...delegate.identity, delegationRef: ref })
}

/** From the publisher that batches are of to another key, from `startMs` on for a minute. */
export function delegationOf(changes: Partial<DelegationClaim> = {}, signer = identityOf(7)): Delegation {
  const claim: DelegationClaim = {
    chainId: 0,
    userId: identityOf(7).nodeId,
    delegateId: identityOf(8).nodeId,
    fromMs: startMs,
    untilMs: startMs + 60_000,
    publishes: true,
    reads: true,
    streams: [],
    requester: '',
    block: 0,
    ...changes,
  }
  return signDelegation(claim, crypto, signer)
}

/** The same with another signature, as if the publisher had never seen it. */
export function forged(batch: MessageBatch): MessageBatch {
  const bytes = batch.bytes.slice()
  const at = bytes.length - 40
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return { ...batch, bytes, signature: bytes.subarray(bytes.length - 65) }
}

export const packetOf = (batch: MessageBatch): Uint8Array => packetBytes(PacketType.data, batch.bytes)

/** A core whose effects are written down, one line each. */
export class CoreScript {
  readonly lines: string[] = []
  readonly delivered: StreamMessage[] = []
  readonly archiveGaps: Gap[] = []
  readonly lostGaps: Gap[] = []
  readonly equivocations: Equivocation[] = []
  readonly sent: ControlPacket[] = []
  /** What was sent though it may be lost, as a line has it. */
  readonly lossy: string[] = []
  /** By which aliases data went, and to whom. */
  readonly aliases: [peer: string, alias: number][] = []
  readonly core: Overlay
  policy: 'allowed' | 'denied' | 'unknown' = 'allowed'
  /** For how long users may read; undefined when nothing is known of them. */
  readsForMs: (userId: NodeId) => number | undefined = () => Infinity
  /** What is older than this belongs to an earlier stream. */
  oldestOfStreamMs = 0
  verified = 0
  tokensVerified = 0
  /** Statuses that are due because a neighbour was lost. */
  lostNeighbours = 0
  delegationsVerified = 0
  /** What the registry says of delegates; of others nothing is said. */
  delegates: Record<NodeId, 'allowed' | 'denied' | 'unknown'> = {}
  /** For whom peers act. */
  readonly acting = new Map<NodeId, ActingFor>()
  /** Hears of data packets as they are sent. */
  onData: (peer: number, packet: Uint8Array) => void = () => undefined
  rttMs: number | undefined
  /** Of one link, where they differ. */
  rttOf: (peerId: NodeId) => number | undefined = () => this.rttMs
  /** Of all links, as a number. */
  transport = 0
  /** By the monotonic clock, far from the wall clock: one taken for the other shows. */
  nowMs = 7_000
  /** How far the wall clock is ahead of it. */
  wallAheadMs = startMs - this.nowMs
  canTakeMore = true
  queuedBytes = 0
  canThin = true
  canShorten = false
  /** True in a test of faults; in any other, one of them fails it. */
  expectsFaults = false
  readonly faults: { readonly streamPartId: StreamPartId; readonly error: unknown }[] = []
  /** Called before each effect, and before what is asked; what it throws the core gets. */
  hostile: (port: string, args: readonly unknown[]) => void = () => {}
  readonly hasArchive: boolean

  readonly isLight: boolean
  readonly servesGuests: boolean
  networkOf: (peerId: NodeId) => string = () => ''
  readonly withheld: WithheldMessages[] = []

  constructor(
    limits: Partial<NetworkLimits> = {},
    { hasArchive = false, isLight = false, servesGuests = false } = {},
  ) {
    this.hasArchive = hasArchive
    this.isLight = isLight
    this.servesGuests = servesGuests
    this.core = new Overlay(
      { self: idOf(1), limits: { ...networkLimits, ...limits } },
      {
        effects: this.#hostileEffects(),
        crypto,
        chainId: 0,
        verify: (batch, signerId) => {
          this.hostile('verify', [batch])
          this.verified++
          return verifyBatch(batch, crypto, signerId)
        },
        verifyDelegation: (delegation) => {
          this.delegationsVerified++
          return isSignedByKey(delegation, crypto)
        },
        actingFor: (peerId) => this.acting.get(peerId),
        readsForMs: (_, userId) => this.readsForMs(userId),
        verifyMembership: (token, nodeId, wallMs) => {
          this.tokensVerified++
          return verifyMembership(token, nodeId, wallMs, crypto)
        },
        membershipToken: () => undefined,
        random: () => 0,
        checkPublisher: (streamId, publisherId, _wallMs, oldestMs = Infinity, delegation) => {
          this.hostile('checkPublisher', [streamId, publisherId])
          if (delegation !== undefined && this.delegates[delegation.delegateId] !== undefined)
            return this.delegates[delegation.delegateId] ?? 'unknown'
          return oldestMs < this.oldestOfStreamMs ? 'denied' : this.policy
        },
        rttOf: (peerId) => this.rttOf(peerId),
        transportOf: () => this.transport,
        canTakeMore: () => this.canTakeMore,
        queuedBytes: () => this.queuedBytes,
        canThin: () => this.canThin,
        canShorten: () => this.canShorten,
        isLight: this.isLight,
        servesGuests: this.servesGuests,
        lightParts,
        networkOf: (peerId) => this.networkOf(peerId),
        hasArchive: this.hasArchive,
      },
    )
  }

  get wallMs(): number {
    return this.nowMs + this.wallAheadMs
  }

  /** Handles the events, and returns what the core wanted done. */
  run(...events: OverlayEvent[]): string[] {
    this.lines.length = 0
    for (const event of events) this.#handle(event)
    this.#checkFaults()
    return [...this.lines]
  }

  /** Lets time pass, tick by tick. */
  pass(durationMs: number): string[] {
    this.lines.length = 0
    const endMs = this.nowMs + durationMs
    while (this.core.dueMs <= endMs) {
      this.nowMs = Math.max(this.nowMs, this.core.dueMs)
      this.#handle({ type: 'tick' })
    }
    this.nowMs = endMs
    this.#checkFaults()
    return [...this.lines]
  }

  status(): string {
    const status = this.core.takeStatus(partId, this.nowMs)
    if (status === undefined) return 'not joined'
    const failed = status.failed.map(({ nodeId, reason }) => `${short(nodeId)}:${reason}`)
    return `#${status.counter} [${status.neighbours.map((n) => short(n.nodeId)).join(' ')}] failed [${failed.join(' ')}]`
  }

  attached(): string {
    return (this.core.streamParts.get(partId)?.attached ?? []).map(short).join(' ')
  }

  /** Joins, gets the instruction, and has these peers as neighbours. */
  withNeighbours(...peers: number[]): this {
    this.run(join, instruct(1, ...peers))
    for (const peer of peers) this.run(opened(peer), attach(peer))
    this.lines.length = 0
    return this
  }

  #handle(event: OverlayEvent): void {
    this.core.handle(event, { nowMs: this.nowMs, wallMs: this.wallMs })
  }

  #checkFaults(): void {
    const [fault] = this.faults
    if (fault !== undefined && !this.expectsFaults) throw fault.error
  }

  #hostileEffects(): OverlayEffects {
    return new Proxy(this.#effects(), {
      get: (effects, name: keyof OverlayEffects) => {
        return (...args: never[]) => {
          this.hostile(name, args)
          const effect: (...args: never[]) => void = effects[name]
          return effect(...args)
        }
      },
    })
  }

  #effects(): OverlayEffects {
    const note = (line: string): void => void this.lines.push(line)
    return {
      connect: (peerId, _, alone, again) =>
        note(`connect ${short(peerId)}${alone ? ' alone' : ''}${again === true ? ' again' : ''}`),
      disconnect: (peerId, code) => note(`disconnect ${short(peerId)} ${code}`),
      sendControl: (peerId, packet, mayLose) => {
        this.sent.push(packet)
        if (mayLose === true) this.lossy.push(`${packet.type} ${short(peerId)}`)
        note(`${packet.type} ${short(peerId)}${detailOf(packet)}`)
      },
      sendData: (peerId, packet, _, way) => {
        this.onData(Number(short(peerId)), packet)
        if (way?.mayLose === true) this.lossy.push(`data ${short(peerId)}`)
        if (way?.short !== undefined) {
          // What the receiver puts back is the header, and nothing else.
          const [{ body } = { body: packet }] = readPackets(packet)
          if (way.short.headerBytes !== decodeBatch(body).headerEnd) throw new Error('not its header')
          this.aliases.push([short(peerId), way.short.alias])
        }
        note(`data ${short(peerId)}`)
      },
      sendUrgent: (peerId, { priority, deadlineMs }) =>
        note(`urgent ${short(peerId)} priority ${priority} left ${deadlineMs - this.nowMs}`),
      accepted: () => undefined,
      duplicate: () => undefined,
      equivocation: (equivocation) => {
        this.equivocations.push(equivocation)
        note(`equivocation ${equivocation.place.timestamp - startMs} delivered ${equivocation.delivered}`)
      },
      fillFromArchive: (gap) => {
        this.archiveGaps.push(gap)
        note(`archive ${rangeText(gap)}`)
      },
      gapLost: (gap) => {
        this.lostGaps.push(gap)
        note(`lost ${rangeText(gap)}`)
      },
      deliver: (_, message) => {
        this.delivered.push(message)
        note(`deliver ${message.timestamp - startMs}`)
      },
      latest: (peerId, { requestId }) => note(`latest ${short(peerId)} ${requestId}`),
      neighbours: (_, neighbours) => note(`neighbours [${neighbours.map(short).join(' ')}]`),
      guestPart: (_, isWanted) => note(isWanted ? 'guests want it' : 'guests are gone'),
      hostRefused: (_, peerId, reason) => note(`refused by ${short(peerId)} ${reason}`),
      hostFails: (peerId, how) => note(`${short(peerId)} is ${how}`),
      withheld: (withheld) => {
        this.withheld.push(withheld)
        note(`withheld ${short(withheld.hostId)} ${withheld.ranges.map(rangeText).join(' ')}`)
      },
      statusDue: (_, lostNeighbour = false) => {
        if (lostNeighbour) this.lostNeighbours++
        note('status')
      },
      resolvePublisher: () => note('resolve'),
      resolveReader: (_, userId) => note(`resolve reader ${short(userId)}`),
      partFailed: (streamPartId, error) => {
        this.faults.push({ streamPartId, error })
        note('failed')
      },
      partRested: () => note('rested'),
      dropped: (counter) => note(`dropped ${counter}`),
    }
  }
}

const rangeText = ({ after, upTo }: MissingRange): string =>
  `(${after.timestamp - startMs},${upTo.timestamp - startMs}]`

function detailOf(packet: ControlPacket): string {
  switch (packet.type) {
    case 'detach':
      return ` ${packet.reason}`
    case 'fetch':
      return ` ${packet.ranges.map(rangeText).join(' ')}`
    case 'fetched':
      return packet.complete ? '' : ' and there is more'
    case 'heads':
      return ` [${packet.heads.map(({ timestamp }) => timestamp - startMs).join(' ')}]`
    case 'thin':
      return ` ${packet.mode}`
    case 'digest':
    case 'urgentDigest':
    case 'urgentPull':
      return ` [${packet.entries.map(({ timestamp }) => timestamp - startMs).join(' ')}]`
    case 'latest':
      return packet.batch === undefined ? ' none' : ` ${at(packet.batch)}`
    case 'attach':
    case 'guestAttach':
    case 'askLatest':
    case 'delegation':
    case 'askDelegation':
      return ''
  }
}

const at = ({ messages }: MessageBatch): number => (messages.at(-1)?.timestamp ?? 0) - startMs
const short = (nodeId: NodeId): string => String(Number.parseInt(nodeId.slice(-4), 16))

export const join: OverlayEvent & { type: 'join' } = {
  type: 'join',
  streamPartId: partId,
  fillGaps: true,
  reads: true,
}
export const leave: OverlayEvent = { type: 'leave', streamPartId: partId }
export const opened = (peer: number): OverlayEvent => ({ type: 'linkOpened', peerId: idOf(peer) })
export const closed = (peer: number): OverlayEvent => ({ type: 'linkClosed', peerId: idOf(peer) })
export const attach = (peer: number, sinceMs = 0, heads: readonly ChainHead[] = []): OverlayEvent => ({
  type: 'control',
  peerId: idOf(peer),
  packet: { type: 'attach', streamPartId: partId, sinceMs, heads },
})
export const detach = (
  peer: number,
  reason: 'left' | 'replaced' | 'not-joined' | 'not-wanted',
): OverlayEvent => ({
  type: 'control',
  peerId: idOf(peer),
  packet: { type: 'detach', streamPartId: partId, reason },
})
export const instruct = (counter: number, ...peers: number[]): OverlayEvent & { type: 'instruction' } => ({
  type: 'instruction',
  instruction: {
    type: 'instruction',
    streamPartId: partId,
    counter,
    neighbours: peers.map((peer) => ({ nodeId: idOf(peer), contact })),
  },
})
export const data = (peer: number, batch: MessageBatch): OverlayEvent => ({
  type: 'data',
  peerId: idOf(peer),
  batch,
  packet: packetOf(batch),
})
export const publish = (batch: MessageBatch): OverlayEvent => ({
  type: 'publish',
  batch,
  packet: packetOf(batch),
})

export const control = (peer: number, packet: ControlPacket): OverlayEvent => ({
  type: 'control',
  peerId: idOf(peer),
  packet,
})
