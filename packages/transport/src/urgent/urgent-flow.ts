import {
  Alarm,
  encodePacket,
  type Arrivals,
  type Clock,
  type Piece,
  type Random,
  type RawPacket,
  type UrgentMessage,
} from '@runnel/protocol'
import type { Channel, DatagramLane } from '../connection/channel.ts'
import type { MutableStats } from '../connection/stats.ts'
import { ArrivalLog } from './arrival-log.ts'
import type { UrgentLimits } from './limits.ts'
import { OtherPackets } from './other-packets.ts'
import { PublisherRates } from './publisher-rates.ts'
import { UrgentArrivals } from './urgent-arrivals.ts'
import type { UrgentDrop } from './urgent-queue.ts'
import { UrgentSender } from './urgent-sender.ts'

/** A smaller change of the rate is not told. */
const toldShare = 0.03
const widestMark = encodePacket({ type: 'mark', number: 0xffff_ffff })

interface UrgentFlowModules {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly stats: MutableStats
  rttMs(): number | undefined
  /** Hands a frame to the channel, before all that waits for it. */
  hand(frame: Uint8Array): void
  /** Whether a report may leave, by the lane or, where there is none, the channel. */
  mayAnswer(lane: DatagramLane | undefined): boolean
  /** There may be room for other packets. */
  flushOthers(): void
  /** A packet of an urgent message, whole. */
  deliver(packet: RawPacket): void
  /** Without a message where it is one of the peer. */
  dropped(why: UrgentDrop | 'truncated', message?: UrgentMessage): void
  /** A packet that was lost was sent again. */
  repeated(): void
  /** There is another rate. */
  rateChanged(): void
}

/**
 * The urgent messages of a connection, both ways, beside all other packets. They leave by the channel's lane for datagrams where it has one, and
 * before the others where it has none. While there are any, the others get what they leave.
 */
export class UrgentFlow {
  readonly #channel: Channel
  readonly #limits: UrgentLimits
  readonly #modules: UrgentFlowModules
  readonly #sender: UrgentSender
  readonly #incoming: UrgentArrivals
  readonly #alarm: Alarm
  readonly #offered: PublisherRates
  readonly #log = new ArrivalLog()
  readonly #others = new OtherPackets()
  #toldKbitPerS = 0
  #activeUntilMs = -Infinity
  #stopped = false

  constructor(channel: Channel, limits: UrgentLimits, modules: UrgentFlowModules) {
    this.#channel = channel
    this.#limits = limits
    this.#modules = modules
    this.#sender = new UrgentSender(limits, {
      clock: modules.clock,
      rttMs: () => modules.rttMs(),
      lane: () => this.#lane(),
      bufferedBytes: (lane) => (lane ?? channel).bufferedBytes,
      hand: (frame, lane) => {
        modules.stats.packetsOut++
        this.#hand(frame, lane)
      },
      dropped: (why, message) => modules.dropped(why, message),
      repeated: () => modules.repeated(),
    })
    this.#incoming = new UrgentArrivals(limits, {
      deliver: (packet) => modules.deliver(packet),
      truncated: () => modules.dropped('truncated'),
    })
    this.#alarm = new Alarm({ onDue: () => this.#onAlarm() }, { clock: modules.clock })
    this.#offered = new PublisherRates(limits.maxUrgentQueueBatches)
  }

  /** While there are urgent messages, others yield. */
  get isActive(): boolean {
    return this.#nowMs < this.#activeUntilMs
  }

  /** Bytes of other packets that may be handed to the channel now. */
  get roomForOthers(): number {
    return this.isActive ? this.#others.roomBytes(this.#nowMs) : Infinity
  }

  /** Other packets are cut to frames of so many bytes, between which urgent ones come. */
  get othersFrameBytes(): number {
    return this.isActive ? this.#sender.pieceBytes : Infinity
  }

  /** What the link carries of the urgent messages of one publisher, beside those of others. */
  kbitPerSOf(publisher: string): number {
    const kbitPerS = this.#others.urgentShare(this.#nowMs) * this.#sender.rate.kbitPerS
    return this.#offered.partOf(publisher, kbitPerS, this.#nowMs)
  }

  offer(message: UrgentMessage): void {
    const nowMs = this.#nowMs
    if (!this.isActive) this.#others.begin()
    this.#activeUntilMs = nowMs + this.#limits.yieldMs
    this.#offered.offered(message.publisher, message.batchBytes.length, nowMs)
    this.#sender.push(message)
    this.flush()
  }

  /** The frame as it leaves with other packets: with a mark while they have to yield, unless what was cut before leaves no room for one. */
  markOthers(frame: Uint8Array): Uint8Array {
    const hasRoom = frame.length + widestMark.length <= this.#channel.maxFrameBytes
    return this.isActive && hasRoom ? this.#sender.marked(frame) : frame
  }

  /** Other packets were handed to the channel. */
  othersSent(bytes: number): void {
    if (!this.isActive) return
    this.#others.sent(bytes, this.#sender.rate, this.#offered.sum(this.#nowMs), this.#nowMs)
    this.#probe()
    this.#setAlarm()
  }

  /** A pong came; false when it answers no ping of ours. */
  answered(token: number): boolean {
    if (!this.#others.answered(token, this.#nowMs)) return false
    this.#modules.flushOthers()
    return true
  }

  onUrgent(body: Uint8Array): void {
    this.#incoming.onUrgent(body)
  }

  onPiece(piece: Piece): void {
    this.#incoming.onPiece(piece, this.#nowMs)
    this.#setAlarm()
  }

  /** A frame came whose arrival the peer wants to hear of. */
  onMark(number: number): void {
    this.#log.add(number, this.#nowMs)
    if (this.#log.dueMs <= this.#nowMs) this.#report()
    this.#setAlarm()
  }

  onArrivals(packet: Arrivals): void {
    this.#sender.arrived(packet)
    this.#tellRate()
    this.flush()
  }

  /** Sends as much as there is room for. */
  flush(): void {
    if (this.#stopped) return
    this.#sender.flush()
    this.#probe()
    this.#setAlarm()
  }

  stop(): void {
    this.#stopped = true
    this.#alarm.set(Infinity)
  }

  get #nowMs(): number {
    return this.#modules.clock.monotonicMs()
  }

  #lane(): DatagramLane | undefined {
    const lane = this.#channel.datagrams
    if (this.#sender.hasSome) lane?.open()
    return lane?.isOpen === true ? lane : undefined
  }

  #hand(frame: Uint8Array, lane: DatagramLane | undefined): void {
    if (lane === undefined) return this.#modules.hand(frame)
    this.#modules.stats.framesOut++
    this.#modules.stats.bytesOut += frame.length
    lane.send(frame)
  }

  /** Tells the peer when its frames came, unless it reads too little: the next report tells of these as well. */
  #report(): void {
    const report = this.#log.take(this.#nowMs)
    const lane = this.#lane()
    if (this.#modules.mayAnswer(lane)) this.#hand(encodePacket(report), lane)
  }

  #tellRate(): void {
    const { kbitPerS } = this.#sender.rate
    if (Math.abs(kbitPerS - this.#toldKbitPerS) < toldShare * this.#toldKbitPerS) return
    this.#toldKbitPerS = kbitPerS
    this.#modules.rateChanged()
  }

  /** A ping follows other packets, on the same path. */
  #probe(): void {
    if (this.#stopped || this.#others.probeDueMs(this.#nowMs) > this.#nowMs) return
    // As of the heartbeat: nobody can answer before it arrives.
    const token = this.#modules.random.bytes(4).reduce((number, byte) => number * 256 + byte, 0)
    this.#others.probed(token, this.#nowMs)
    this.#modules.hand(encodePacket({ type: 'ping', token }))
  }

  #setAlarm(): void {
    if (this.#stopped) return
    const nowMs = this.#nowMs
    this.#alarm.set(
      Math.min(
        ...[this.#sender.sendDueMs, this.#sender.starvedDueMs, this.#log.dueMs, this.#incoming.dueMs],
        ...[this.#others.probeDueMs(nowMs), this.#others.roomDueMs(nowMs)],
        this.isActive ? this.#activeUntilMs : Infinity,
      ),
    )
  }

  #onAlarm(): void {
    const nowMs = this.#nowMs
    if (this.#sender.starvedDueMs <= nowMs) {
      this.#sender.starved()
      this.#tellRate()
    }
    if (this.#log.dueMs <= nowMs) this.#report()
    this.#incoming.forgetLate(nowMs)
    this.flush()
    // They yield no longer, or a ping of theirs was due.
    this.#modules.flushOthers()
  }
}
