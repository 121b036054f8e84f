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
import { RateControl } from './rate-control.ts'
import { Repeats, type Repeatable } from './repeats.ts'
import { SentFrames, type SentFrame } from './sent-frames.ts'
import { UrgentArrivals } from './urgent-arrivals.ts'
import { UrgentPackets } from './urgent-packets.ts'
import { UrgentQueue, type UrgentDrop } from './urgent-queue.ts'

/** Not every channel tells when it has room. */
const lookAgainMs = 5
/** Frames leave a little faster than the rate, so that what a publisher sends at that does not wait here. */
const paceFactor = 1.25
/** What a timer that is late may make up for. */
const paceBurstMs = 5
/** Below it pieces are small, as each takes its time on the line. */
const slowKbitPerS = 4_000
/** Under way may be what the rate sends in a round trip and so long, and some more. */
const inFlightMs = 300
const inFlightBytes = 8 * 1024
/** When nothing was heard for a round trip and so long, what is under way is given up. */
const starvedMs = 1_000
/** A round trip of urgent frames counts for so long, then that of the heartbeat. */
const freshMs = 1_000
/** A smaller change of the rate is not told. */
const toldShare = 0.03

interface UrgentFlowModules {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly stats: MutableStats
  rttMs(): number | undefined
  /** Hands a frame to the channel, before all that waits for it. */
  hand(frame: Uint8Array): void
  /** There may be room for other packets. */
  flushOthers(): void
  /** A packet of an urgent message, whole. */
  deliver(packet: RawPacket): void
  /** Without a message where it is one of the peer. */
  dropped(why: UrgentDrop | 'truncated', message?: UrgentMessage): void
  /** There is another rate. */
  rateChanged(): void
}

/**
 * The urgent messages of a connection, both ways, beside all other packets. They wait in a queue of their own and leave at the rate that the
 * link carries, as the peer tells of the arrival of each frame: by the channel's lane for datagrams where it has one, and before the others
 * where it has none. While there are any, the others get what they leave.
 */
export class UrgentFlow {
  readonly #channel: Channel
  readonly #limits: UrgentLimits
  readonly #modules: UrgentFlowModules
  readonly #queue: UrgentQueue
  readonly #packets: UrgentPackets
  readonly #incoming: UrgentArrivals
  readonly #alarm: Alarm
  readonly #rate: RateControl
  readonly #offered: PublisherRates
  readonly #sent: SentFrames
  readonly #repeats: Repeats
  readonly #log = new ArrivalLog()
  readonly #others = new OtherPackets()
  /** When the next frame may leave. */
  #paceMs = -Infinity
  #rtt = { ms: 0, atMs: -Infinity }
  /** When something was last heard of what is under way. */
  #heardMs = -Infinity
  #toldKbitPerS = 0
  #activeUntilMs = -Infinity
  #stopped = false

  constructor(channel: Channel, limits: UrgentLimits, modules: UrgentFlowModules) {
    this.#channel = channel
    this.#limits = limits
    this.#modules = modules
    this.#queue = new UrgentQueue(limits, { dropped: (why, message) => modules.dropped(why, message) })
    this.#packets = new UrgentPackets(limits)
    this.#incoming = new UrgentArrivals(limits, {
      deliver: (packet) => modules.deliver(packet),
      truncated: () => modules.dropped('truncated'),
    })
    this.#alarm = new Alarm({ onDue: () => this.#onAlarm() }, { clock: modules.clock })
    this.#rate = new RateControl(limits)
    this.#offered = new PublisherRates(limits.maxUrgentQueueBatches)
    this.#sent = new SentFrames(limits.maxSentFrames)
    this.#repeats = new Repeats(limits.maxSentFrames)
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
    return this.isActive ? this.#pieceBytes : Infinity
  }

  /** What the link carries of the urgent messages of one publisher, beside those of others. */
  kbitPerSOf(publisher: string): number {
    const kbitPerS = this.#others.urgentShare(this.#nowMs) * this.#rate.kbitPerS
    return this.#offered.partOf(publisher, kbitPerS, this.#nowMs)
  }

  offer(message: UrgentMessage): void {
    const nowMs = this.#nowMs
    if (!this.isActive) this.#others.begin()
    this.#activeUntilMs = nowMs + this.#limits.yieldMs
    this.#offered.offered(message.publisher, message.batchBytes.length, nowMs)
    this.#queue.push(message, nowMs)
    this.flush()
  }

  /** The frame as it leaves with other packets: with a mark while they have to yield. */
  markOthers(frame: Uint8Array): Uint8Array {
    return this.isActive ? this.#marked(frame, { isOther: true, alias: 0 }) : frame
  }

  /** Other packets were handed to the channel. */
  othersSent(bytes: number): void {
    if (!this.isActive) return
    this.#others.sent(bytes, this.#rate, this.#offered.sum(this.#nowMs), this.#nowMs)
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
    const nowMs = this.#nowMs
    const { arrived, aliases, lost, missing, rttMs } = this.#sent.report(packet, nowMs)
    for (const alias of aliases) this.#packets.aliasArrived(alias)
    if (rttMs !== undefined) {
      this.#rtt = { ms: rttMs, atMs: nowMs }
      this.#heardMs = nowMs
    }
    this.#repeats.add(missing)
    this.#rate.feedback({ arrived, lost, rttMs: this.#roundTripMs }, nowMs)
    this.#tellRate()
    this.flush()
  }

  /** Sends as much as there is room for. */
  flush(): void {
    const lane = this.#lane()
    for (;;) {
      const nowMs = this.#nowMs
      const message = this.#queue.first(nowMs)
      if (this.#stopped || this.#paceMs > nowMs || !this.#hasRoom(lane)) break
      const repeat = this.#repeats.takeBefore(message?.priority ?? Infinity, this.#arrivesMs)
      if (repeat !== undefined) this.#send(repeat, lane)
      else if (message !== undefined) this.#sendSome(message, nowMs, lane)
      else break
    }
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

  get #roundTripMs(): number {
    // One of a time when much waited would have all that comes now dropped as late, and nothing would show that it has passed.
    return this.#nowMs - this.#rtt.atMs < freshMs ? this.#rtt.ms : (this.#modules.rttMs() ?? 0)
  }

  get #pieceBytes(): number {
    const { urgentPieceBytes } = this.#limits
    const { kbitPerS, isLimited } = this.#rate
    return isLimited && kbitPerS < slowKbitPerS ? Math.ceil(urgentPieceBytes / 3) : urgentPieceBytes
  }

  #hasRoom(lane: DatagramLane | undefined): boolean {
    const mostBytes = inFlightBytes + (this.#rate.kbitPerS * (this.#roundTripMs + inFlightMs)) / 8
    const { bufferedBytes } = lane ?? this.#channel
    return this.#sent.bytes < mostBytes && bufferedBytes < this.#limits.maxUrgentBufferBytes
  }

  /** When what is sent now is there. */
  get #arrivesMs(): number {
    return this.#nowMs + this.#roundTripMs / 2
  }

  get #hasSome(): boolean {
    return this.#queue.size > 0 || this.#repeats.size > 0
  }

  #lane(): DatagramLane | undefined {
    const lane = this.#channel.datagrams
    if (this.#hasSome) lane?.open()
    return lane?.isOpen === true ? lane : undefined
  }

  /** A message, or one piece of it. */
  #sendSome(message: UrgentMessage, nowMs: number, lane: DatagramLane | undefined): void {
    const { deadlineMs, priority } = message
    const remainingMs = Math.floor(deadlineMs - this.#arrivesMs)
    if (remainingMs < 1) return this.#queue.done(message, true)
    const { packet, alias, isLast } = this.#packets.next(message, remainingMs, this.#pieceBytes)
    this.#queue.sent(message, packet.length, nowMs)
    if (isLast) this.#queue.done(message)
    this.#send({ packet, alias, deadlineMs, priority, repeats: 0 }, lane)
  }

  #send(repeatable: Repeatable, lane: DatagramLane | undefined): void {
    const nowMs = this.#nowMs
    const { packet, alias } = repeatable
    if (this.#sent.bytes === 0) this.#heardMs = nowMs
    const tookMs = (packet.length * 8) / (paceFactor * this.#rate.kbitPerS)
    this.#paceMs = Math.max(this.#paceMs, nowMs - paceBurstMs) + tookMs
    this.#modules.stats.packetsOut++
    this.#hand(this.#marked(packet, { isOther: false, alias, repeatable }), lane)
  }

  #marked(packets: Uint8Array, about: Omit<SentFrame, 'bytes' | 'sentMs'>): Uint8Array {
    const number = this.#sent.add({ ...about, bytes: packets.length, sentMs: this.#nowMs })
    const mark = encodePacket({ type: 'mark', number })
    const frame = new Uint8Array(mark.length + packets.length)
    frame.set(mark)
    frame.set(packets, mark.length)
    return frame
  }

  #hand(frame: Uint8Array, lane: DatagramLane | undefined): void {
    if (lane === undefined) return this.#modules.hand(frame)
    this.#modules.stats.framesOut++
    this.#modules.stats.bytesOut += frame.length
    lane.send(frame)
  }

  /** Tells the peer when its frames came. */
  #report(): void {
    this.#hand(encodePacket(this.#log.take(this.#nowMs)), this.#lane())
  }

  #tellRate(): void {
    const { kbitPerS } = this.#rate
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

  get #starvedDueMs(): number {
    return this.#sent.bytes === 0 ? Infinity : this.#heardMs + this.#roundTripMs + starvedMs
  }

  get #sendDueMs(): number {
    if (!this.#hasSome) return Infinity
    return this.#hasRoom(this.#lane()) ? this.#paceMs : Math.max(this.#paceMs, this.#nowMs + lookAgainMs)
  }

  #setAlarm(): void {
    if (this.#stopped) return
    const nowMs = this.#nowMs
    this.#alarm.set(
      Math.min(
        ...[this.#sendDueMs, this.#starvedDueMs, this.#log.dueMs, this.#incoming.dueMs],
        ...[this.#others.probeDueMs(nowMs), this.#others.roomDueMs(nowMs)],
        this.isActive ? this.#activeUntilMs : Infinity,
      ),
    )
  }

  #onAlarm(): void {
    const nowMs = this.#nowMs
    if (this.#starvedDueMs <= nowMs) {
      this.#sent.writeOff()
      this.#rate.starved(nowMs)
      this.#tellRate()
    }
    if (this.#log.dueMs <= nowMs) this.#report()
    this.#incoming.forgetLate(nowMs)
    this.flush()
    // They yield no longer, or a ping of theirs was due.
    this.#modules.flushOthers()
  }
}
