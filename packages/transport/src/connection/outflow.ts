import type { Cancel, Clock } from '@runnel/protocol'
import type { Channel } from './channel.ts'
import { splitPacket } from './fragments.ts'
import type { ConnectionLimits } from './limits.ts'
import { Outbox } from './outbox.ts'
import type { SendMode } from '../ports.ts'
import type { UrgentFlow } from '../urgent/urgent-flow.ts'
import type { MutableStats } from './stats.ts'

/** Where frames go. */
type Sink = Pick<Channel, 'maxFrameBytes' | 'bufferedBytes' | 'fullBytes' | 'send'>

interface OutflowModules {
  readonly clock: Clock
  readonly stats: MutableStats
  /** There is room again after there was none. */
  onDrain(): void
  /** The channel holds data, and none of it has left for `stallTimeoutMs`. */
  onStalled(): void
  /** Of a link that urgent messages share; undefined before the first of them. */
  urgent?(): Pick<UrgentFlow, 'othersFrameBytes' | 'roomForOthers' | 'markOthers' | 'othersSent'> | undefined
}

/**
 * The send queue of a connection: packs the packets of a turn into frames, holds them back while the channel is full, and
 * refuses what would exceed its limit.
 */
export class Outflow {
  readonly #channel: Sink
  readonly #limits: ConnectionLimits
  readonly #modules: OutflowModules
  readonly #outbox = new Outbox()
  readonly #endTurn = (): void => {
    this.#gentle = this.#packetsOfTurn === 1
    this.#packetsOfTurn = 0
    this.flush()
  }
  #packetsOfTurn = 0
  #gentle = true
  #writable = true
  #handedBytes = 0
  #cancelStallCheck: Cancel | undefined
  #stopped = false

  constructor(channel: Sink, limits: ConnectionLimits, modules: OutflowModules) {
    this.#channel = channel
    this.#limits = limits
    this.#modules = modules
  }

  /** Bytes queued here and in the channel. */
  get queuedBytes(): number {
    return this.#outbox.bytes + this.#channel.bufferedBytes
  }

  /** Approximate bytes that have left the channel since the start: the channel's own framing may be included. */
  get leftBytes(): number {
    return this.#handedBytes - this.#channel.bufferedBytes
  }

  /** False from when the queue exceeds the high mark until it falls to the low mark. */
  get writable(): boolean {
    return this.#writable
  }

  /** True when everything was handed to the channel. */
  get empty(): boolean {
    return this.#outbox.bytes === 0
  }

  /** Queues a packet for the end of the turn. False, and counted, when the packet is too large or the queue too long. */
  offer(packet: Uint8Array, mode?: SendMode): boolean {
    if (this.#stopped) return false
    const { maxPacketBytes, maxQueueBytes, reservedQueueBytes, highMarkBytes } = this.#limits
    const queuedBytes = this.queuedBytes + packet.length
    const maxBytes = mode === 'kept' ? maxQueueBytes + reservedQueueBytes : maxQueueBytes
    if (packet.length > maxPacketBytes || queuedBytes > maxBytes) {
      if (queuedBytes > maxQueueBytes) this.#writable = false
      this.#modules.stats.packetsDropped++
      return false
    }
    this.force(packet)
    if (queuedBytes > highMarkBytes) this.#writable = false
    return true
  }

  /** Queues a packet of the connection itself, whatever the length of the queue. Such packets are few and small. */
  force(packet: Uint8Array): void {
    if (this.#stopped) return
    this.#modules.stats.packetsOut++
    const maxBytes = this.#maxFrameBytes
    if (packet.length <= maxBytes) this.#push(packet)
    else for (const piece of splitPacket(packet, maxBytes)) this.#push(piece)
  }

  /** As `force`, without waiting for the end of the turn. */
  forceNow(packet: Uint8Array): void {
    this.force(packet)
    this.flush()
  }

  /** Hands a packet to the channel before all that is queued. Only to a peer that takes such packets between fragments. */
  jump(packet: Uint8Array): void {
    if (!this.#stopped) this.#hand(packet)
  }

  get #maxFrameBytes(): number {
    return Math.min(this.#channel.maxFrameBytes, this.#modules.urgent?.()?.othersFrameBytes ?? Infinity)
  }

  /**
   * At a low rate a link has one packet a turn. Packing gains nothing then, so that packet does not wait for the end of the
   * turn, in which other links' packets may still have to be verified. After a turn with several packets the next one is
   * packed.
   */
  #push(packet: Uint8Array): void {
    if (++this.#packetsOfTurn === 1) {
      this.#modules.clock.endOfTurn(this.#endTurn)
      if (this.#gentle && this.empty && this.#hasRoom()) return this.#handQueued(packet)
    }
    this.#outbox.push(packet)
  }

  #hasRoom(): boolean {
    const urgent = this.#modules.urgent?.()
    if (urgent !== undefined && urgent.roomForOthers === 0) return false
    return this.#channel.bufferedBytes < (this.#channel.fullBytes ?? this.#limits.highMarkBytes)
  }

  #handQueued(frame: Uint8Array): void {
    const urgent = this.#modules.urgent?.()
    this.#hand(urgent?.markOthers(frame) ?? frame)
    urgent?.othersSent(frame.length)
  }

  #hand(frame: Uint8Array): void {
    this.#handedBytes += frame.length
    this.#modules.stats.framesOut++
    this.#modules.stats.bytesOut += frame.length
    this.#channel.send(frame)
  }

  /** Hands as much to the channel as it has room for. */
  flush(): void {
    while (!this.#stopped && this.#hasRoom()) {
      const frame = this.#outbox.takeFrame(Math.min(this.#maxFrameBytes, this.#limits.maxPackedBytes))
      if (frame === undefined) break
      this.#handQueued(frame)
    }
    if (this.#stopped) return
    this.#watchForStall()
    if (!this.#writable && this.queuedBytes <= this.#limits.lowMarkBytes) {
      this.#writable = true
      this.#modules.onDrain()
    }
  }

  /** What waits only here waits for its turn beside urgent messages, which on a slow link may take longer. */
  #watchForStall(): void {
    if (this.#cancelStallCheck !== undefined || this.queuedBytes === 0) return
    const before = this.leftBytes
    this.#cancelStallCheck = this.#modules.clock.schedule(this.#limits.stallTimeoutMs, () => {
      this.#cancelStallCheck = undefined
      if (this.#channel.bufferedBytes > 0 && this.leftBytes <= before) this.#modules.onStalled()
      else this.#watchForStall()
    })
  }

  /** Drops what is queued. */
  clear(): void {
    this.#outbox.clear()
  }

  /** No timer, no frame and no call after this. */
  stop(): void {
    this.#stopped = true
    this.#cancelStallCheck?.()
    this.#outbox.clear()
  }
}
