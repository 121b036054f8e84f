import type { NetworkNode, NodeDelegations } from '@runnel/network'
import {
  isSideMessage,
  keyPartition,
  placeOf,
  toStreamPartId,
  type Clock,
  type Crypto,
  type DelegationRef,
  type MessageChain,
  type MessageRef,
  type NodeId,
  type StreamId,
  type StreamMessage,
} from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import type { ActingUser } from '../identity/acting-user.ts'
import { maxAheadMs } from '../publish/message-clock.ts'
import type { StreamInfo } from '../registry/ports.ts'
import type { MessagePlace } from '../resend/wait-for-storage.ts'
import type { StreamParts } from '../stream-parts.ts'
import { publishAlone } from './publish-alone.ts'

/** A message beside those of a stream, checked as messages are: its publisher may publish to the stream, subscribe to it, or grant. */
export interface SideMessage {
  readonly publisherId: NodeId
  readonly messageChainId: string
  readonly place: MessageRef
  /** Under which delegation it was signed; undefined where its publisher signed it. */
  readonly delegationRef?: DelegationRef | undefined
  /** A copy. */
  readonly content: Uint8Array
}

/** Where a message is to come in its chain. */
export interface SidePlace {
  readonly after?: MessageRef | undefined
  readonly sequenceNumber?: number | undefined
}

export type SideListener = (message: SideMessage) => void

export interface SidePartModules {
  readonly node: Pick<NetworkNode, 'publish' | 'waitForNeighbours'> & {
    readonly delegations: Pick<NodeDelegations, 'get'>
  }
  readonly parts: Pick<StreamParts, 'join' | 'neighbourCount'>
  readonly user: Pick<ActingUser, 'userId' | 'signer'>
  readonly crypto: Crypto
  readonly clock: Clock
}

/** The first byte of each content. No key record begins with it, so clients that know of keys only leave the rest unread. */
const sideByte = 0

/**
 * What is beside the messages of one stream, for one use of it: presence, replies or cursors. They are in its key part, in chains that begin
 * with one of `sideChains`; whoever may publish, subscribe or grant may publish and read them. They are never encrypted here.
 */
export class SidePart {
  readonly stream: StreamInfo
  readonly #modules: SidePartModules
  readonly #times: SideTimes
  readonly #listeners = new Map<string, Set<SideListener>>()
  #leave: (() => void) | undefined

  constructor(options: { readonly stream: StreamInfo; readonly times: SideTimes }, modules: SidePartModules) {
    this.stream = options.stream
    this.#times = options.times
    this.#modules = modules
  }

  /** Joins the overlay, which is shared with the stream's keys. Idempotent. */
  join(): void {
    // Each message stands by itself: there are no gaps between them.
    this.#leave ??= this.#modules.parts.join(this.stream, keyPartition, { fillGaps: false })
  }

  /** Gives up this use. Idempotent; `join` joins again. */
  leave(): void {
    this.#leave?.()
    this.#leave = undefined
  }

  /** Joins, and resolves to whether there is a neighbour, when there is one or nobody to be one. Throws ABORTED. */
  async waitForNeighbour(signal: AbortSignal): Promise<boolean> {
    this.join()
    const streamPartId = toStreamPartId(this.stream.id, keyPartition)
    const { node, parts } = this.#modules
    if (parts.neighbourCount(streamPartId) === 0)
      await node.waitForNeighbours(streamPartId, { orAlone: true, signal }).catch((error: unknown) => {
        throwIfAborted(signal)
        throw error
      })
    return parts.neighbourCount(streamPartId) > 0
  }

  /**
   * Joins, signs a message of the user and floods it. Chain ids begin with one of `sideChains`. Its time is later than that of any that this
   * client published here, and than `after`. Other processes of the user that write to the same chain give a `sequenceNumber` of their own,
   * so that no two take the same place. Returns its place, to wait until it is stored.
   */
  publish(
    messageChainId: string,
    content: Uint8Array,
    { after, sequenceNumber = 0 }: SidePlace = {},
  ): MessagePlace {
    this.join()
    const { user, clock } = this.#modules
    const chain: MessageChain = {
      streamId: this.stream.id,
      partition: keyPartition,
      publisherId: user.userId,
      messageChainId,
    }
    const place = { timestamp: this.#times.next(clock.now(), after), sequenceNumber }
    const bytes = new Uint8Array(1 + content.length)
    bytes[0] = sideByte
    bytes.set(content, 1)
    publishAlone({ chain, place, content: bytes }, this.#modules)
    return { ...chain, ...place }
  }

  /** Calls back for each message, of this client too, whose chain id begins with `prefix`, until the returned function is called. */
  on(prefix: string, listener: SideListener): () => void {
    const listeners = this.#listeners.get(prefix) ?? new Set()
    this.#listeners.set(prefix, listeners.add(listener))
    return () => listeners.delete(listener)
  }

  /** Of its publisher itself, or of whom that lets read. A delegate that may only publish, such as a sensor, says nothing of what is read. */
  isOfReader({ delegationRef }: SideMessage): boolean {
    if (delegationRef === undefined) return true
    return this.#modules.node.delegations.get(delegationRef)?.reads === true
  }

  /** A message of the stream's key part came. */
  receive(message: StreamMessage): void {
    for (const [prefix, listeners] of this.#listeners) {
      if (listeners.size === 0 || !message.messageChainId.startsWith(prefix)) continue
      const found = sideMessageIn(message)
      if (found !== undefined) for (const listener of [...listeners]) listener(found)
    }
  }
}

/**
 * The times of what one client publishes beside streams: each later than the one before, unless that was by a clock that was ahead and is set
 * right: others refused it, and would refuse what is later.
 */
export class SideTimes {
  #lastMs = 0

  next(nowMs: number, after?: MessageRef): number {
    const before = [this.#lastMs, after?.timestamp ?? 0].filter((ms) => ms <= nowMs + maxAheadMs)
    this.#lastMs = Math.max(nowMs, ...before.map((ms) => ms + 1))
    return this.#lastMs
  }
}

/** What a message of a key part holds beside keys, live or stored; undefined where it holds none, or of a later version. */
export function sideMessageIn(message: StreamMessage): SideMessage | undefined {
  const { publisherId, messageChainId, delegationRef, content } = message
  if (!isSideMessage(message) || content[0] !== sideByte) return undefined
  return { publisherId, messageChainId, delegationRef, place: placeOf(message), content: content.slice(1) }
}

/** The uses of what is beside streams in this client. */
export class SideParts {
  readonly #modules: SidePartModules
  readonly #times = new SideTimes()
  readonly #byStream = new Map<StreamId, Set<SidePart>>()

  constructor(modules: SidePartModules) {
    this.#modules = modules
  }

  /** One more use of a stream, until `close`. */
  open(stream: StreamInfo): SidePart {
    const part = new SidePart({ stream, times: this.#times }, this.#modules)
    this.#byStream.set(stream.id, (this.#byStream.get(stream.id) ?? new Set()).add(part))
    return part
  }

  /** Ends a use, and leaves. Idempotent. */
  close(part: SidePart): void {
    part.leave()
    const uses = this.#byStream.get(part.stream.id)
    uses?.delete(part)
    if (uses?.size === 0) this.#byStream.delete(part.stream.id)
  }

  /** A message came. */
  receive(message: StreamMessage): void {
    if (!isSideMessage(message)) return
    for (const part of [...(this.#byStream.get(message.streamId) ?? [])]) part.receive(message)
  }
}
