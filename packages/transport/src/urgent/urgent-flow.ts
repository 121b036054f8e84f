import {
  Alarm,
  encodePacket,
  readPackets,
  urgentPacket,
  type Clock,
  type Piece,
  type Random,
  type RawPacket,
  type UrgentMessage,
} from '@runnel/protocol'
import type { Channel, DatagramLane } from '../connection/channel.ts'
import type { MutableStats } from '../connection/stats.ts'
import { InFlightWindow, type WindowLimits } from './in-flight-window.ts'
import type { UrgentLimits } from './limits.ts'
import { PieceAssembler } from './piece-assembler.ts'
import { UrgentQueue, type UrgentDrop } from './urgent-queue.ts'

/** Other packets give way before urgent ones have to wait, as they aim at less delay. */
const windows = {
  urgent: { targetMs: 60, minBytes: 8 * 1024, firstBytes: 32 * 1024, maxBytes: 1024 * 1024 },
  others: { targetMs: 20, minBytes: 2 * 1024, firstBytes: 16 * 1024, maxBytes: 1024 * 1024 },
} as const satisfies Record<string, WindowLimits>

/** Packets of more than one frame are cut smaller while others may have to get in between. */
export const yieldingFrameBytes = 4 * 1024

/** Not every channel tells when it has room. */
const lookAgainMs = 5

interface UrgentFlowModules {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly stats: MutableStats
  rttMs(): number | undefined
  /** Hands a frame to the channel, before all that waits for it. */
  hand(frame: Uint8Array): void
  /** There may be room for other packets. */
  flushOthers(): void
  /** A packet of an urgent message whose pieces have all come. */
  deliver(packet: RawPacket): void
  dropped(why: UrgentDrop | 'truncated'): void
}

/** How much of an object was sent in pieces. */
interface Progress {
  readonly object: number
  index: number
}

/**
 * The urgent messages of a connection, both ways, beside all other packets. They wait in a queue of their own until few bytes are under way,
 * leave by the channel's lane for datagrams where it has one, and before the others where it has none. While there are any, the others
 * have a window of their own, which gives way.
 */
export class UrgentFlow {
  readonly #channel: Channel
  readonly #limits: UrgentLimits
  readonly #modules: UrgentFlowModules
  readonly #queue: UrgentQueue
  readonly #assembler: PieceAssembler
  readonly #progress = new WeakMap<UrgentMessage, Progress>()
  readonly #alarm: Alarm
  /** Of the path that messages take now. */
  #window = new InFlightWindow(windows.urgent, { isLossy: false })
  #others = new InFlightWindow(windows.others, { isLossy: false })
  #usesLane = false
  #activeUntilMs = -Infinity
  #objects = 0
  #stopped = false

  constructor(channel: Channel, limits: UrgentLimits, modules: UrgentFlowModules) {
    this.#channel = channel
    this.#limits = limits
    this.#modules = modules
    this.#queue = new UrgentQueue(limits, { dropped: (why) => modules.dropped(why) })
    this.#assembler = new PieceAssembler(limits, { truncated: () => modules.dropped('truncated') })
    this.#alarm = new Alarm({ onDue: () => this.#onAlarm() }, { clock: modules.clock })
  }

  /** While there are urgent messages, others yield. */
  get isActive(): boolean {
    return this.#modules.clock.monotonicMs() < this.#activeUntilMs
  }

  /** Bytes of other packets that may be handed to the channel now. */
  get roomForOthers(): number {
    return this.isActive ? this.#others.roomBytes : Infinity
  }

  offer(message: UrgentMessage): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (!this.isActive) this.#others = new InFlightWindow(windows.others, { isLossy: false })
    this.#activeUntilMs = nowMs + this.#limits.yieldMs
    this.#queue.push(message, nowMs)
    this.flush()
  }

  /** Other packets were handed to the channel. */
  othersSent(bytes: number): void {
    if (!this.isActive) return
    this.#others.sent(bytes)
    this.#probe()
    this.#setAlarm()
  }

  /** A pong came; false when it answers no ping of ours. */
  answered(token: number): boolean {
    const nowMs = this.#modules.clock.monotonicMs()
    if (this.#window.answered(token, nowMs)) this.flush()
    else if (this.#others.answered(token, nowMs)) this.#modules.flushOthers()
    else return false
    return true
  }

  onPiece(piece: Piece): void {
    const assembled = this.#assembler.push(piece, this.#modules.clock.monotonicMs())
    this.#setAlarm()
    if (assembled === undefined) return
    const [packet] = readPackets(urgentPacket(assembled.remainingMs, assembled.batchBytes))
    if (packet !== undefined) this.#modules.deliver(packet)
  }

  /** Sends as much as there is room for. */
  flush(): void {
    const lane = this.#lane()
    const path = lane ?? this.#channel
    for (;;) {
      const nowMs = this.#modules.clock.monotonicMs()
      const message = this.#stopped ? undefined : this.#queue.first(nowMs)
      if (message === undefined) break
      if (this.#window.roomBytes === 0 || path.bufferedBytes >= this.#limits.maxUrgentBufferBytes) break
      this.#sendSome(message, nowMs, lane)
    }
    this.#probe()
    this.#setAlarm()
  }

  stop(): void {
    this.#stopped = true
    this.#alarm.set(Infinity)
  }

  #lane(): DatagramLane | undefined {
    const lane = this.#channel.datagrams
    if (this.#queue.size > 0) lane?.open()
    const usesLane = lane?.isOpen === true
    if (usesLane !== this.#usesLane) {
      this.#usesLane = usesLane
      this.#window = new InFlightWindow(windows.urgent, { isLossy: usesLane })
    }
    return usesLane ? lane : undefined
  }

  /** A message, or one piece of it. */
  #sendSome(message: UrgentMessage, nowMs: number, lane: DatagramLane | undefined): void {
    const remainingMs = Math.floor(message.deadlineMs - nowMs - (this.#modules.rttMs() ?? 0) / 2)
    if (remainingMs < 1) return this.#queue.done(message, true)
    const { batchBytes } = message
    const { urgentPieceBytes } = this.#limits
    if (batchBytes.length <= urgentPieceBytes) {
      this.#send(urgentPacket(remainingMs, batchBytes), message, lane)
      return this.#queue.done(message)
    }
    const progress = this.#progressOf(message)
    const { object, index } = progress
    const count = Math.ceil(batchBytes.length / urgentPieceBytes)
    const bytes = batchBytes.subarray(index * urgentPieceBytes, (index + 1) * urgentPieceBytes)
    this.#send(encodePacket({ type: 'piece', object, index, count, remainingMs, bytes }), message, lane)
    if (++progress.index === count) this.#queue.done(message)
  }

  #progressOf(message: UrgentMessage): Progress {
    let progress = this.#progress.get(message)
    if (progress === undefined) {
      this.#objects = (this.#objects + 1) >>> 0
      this.#progress.set(message, (progress = { object: this.#objects, index: 0 }))
    }
    return progress
  }

  #send(packet: Uint8Array, message: UrgentMessage, lane: DatagramLane | undefined): void {
    this.#window.sent(packet.length)
    this.#queue.sent(message, packet.length)
    this.#modules.stats.packetsOut++
    this.#hand(packet, lane)
    this.#probe()
  }

  #hand(frame: Uint8Array, lane: DatagramLane | undefined): void {
    if (lane === undefined) return this.#modules.hand(frame)
    this.#modules.stats.framesOut++
    this.#modules.stats.bytesOut += frame.length
    lane.send(frame)
  }

  /** A ping follows what was sent, on the same path. */
  #probe(): void {
    const nowMs = this.#modules.clock.monotonicMs()
    for (const window of [this.#window, this.#others]) {
      if (this.#stopped || window.probeDueMs(nowMs) > nowMs) continue
      // As of the heartbeat: nobody can answer before it arrives.
      const token = this.#modules.random.bytes(4).reduce((number, byte) => number * 256 + byte, 0)
      window.probed(token, nowMs)
      const lane = window === this.#window && this.#usesLane ? this.#channel.datagrams : undefined
      this.#hand(encodePacket({ type: 'ping', token }), lane)
    }
  }

  #setAlarm(): void {
    if (this.#stopped) return
    const nowMs = this.#modules.clock.monotonicMs()
    const isBlocked = this.#queue.size > 0 && this.#window.roomBytes > 0
    const dueMs = Math.min(
      ...[isBlocked ? nowMs + lookAgainMs : Infinity, this.#window.probeDueMs(nowMs), this.#window.lostDueMs],
      ...[this.#others.probeDueMs(nowMs), this.#assembler.dueMs],
      this.isActive ? this.#activeUntilMs : Infinity,
    )
    this.#alarm.set(dueMs)
  }

  #onAlarm(): void {
    const nowMs = this.#modules.clock.monotonicMs()
    this.#window.check(nowMs)
    this.#assembler.forgetLate(nowMs)
    this.flush()
    // They yield no longer, or a ping of theirs was due.
    this.#modules.flushOthers()
  }
}
