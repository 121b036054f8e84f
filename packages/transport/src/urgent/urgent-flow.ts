import {
  Alarm,
  encodePacket,
  limits as wireLimits,
  aliasedUrgentPacket,
  readPackets,
  readUrgentParts,
  urgentPacket,
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
import { KnownAliases, SentAliases } from './header-aliases.ts'
import { InFlightWindow, type WindowLimits } from './in-flight-window.ts'
import type { UrgentLimits } from './limits.ts'
import { PieceAssembler } from './piece-assembler.ts'
import { PublisherRates } from './publisher-rates.ts'
import { RateControl } from './rate-control.ts'
import { SentFrames } from './sent-frames.ts'
import { UrgentQueue, type UrgentDrop } from './urgent-queue.ts'

/** Other packets give way before urgent ones have to wait, as they aim at less delay. */
const othersWindow: WindowLimits = {
  targetMs: 20,
  minBytes: 2 * 1024,
  firstBytes: 16 * 1024,
  maxBytes: 1024 * 1024,
}

/** Packets of more than one frame are cut smaller while others may have to get in between. */
export const yieldingFrameBytes = 4 * 1024

/** Not every channel tells when it has room. */
const lookAgainMs = 5
/** Frames leave a little faster than the rate, so that what a publisher sends at that does not wait here. */
const paceFactor = 1.25
/** What a timer that is late may make up for. */
const paceBurstMs = 5
/** Below it pieces are small, as each takes its time on the line. */
const slowKbitPerS = 4_000
/** Under way may be what the rate sends in a round trip and so long, and this much. */
const inFlightMs = 300
const inFlightBytes = 8 * 1024
/** Nothing was heard for a round trip and so long. */
const starvedMs = 500
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

/** How much of an object was sent in pieces. */
interface Progress {
  readonly object: number
  readonly pieceBytes: number
  index: number
}

/**
 * The urgent messages of a connection, both ways, beside all other packets. They wait in a queue of their own and leave at the rate that the
 * link carries, as the peer tells of the arrival of each frame: by the channel's lane for datagrams where it has one, and before the others
 * where it has none. While there are any, the others have a window of their own, which gives way.
 */
export class UrgentFlow {
  readonly #channel: Channel
  readonly #limits: UrgentLimits
  readonly #modules: UrgentFlowModules
  readonly #queue: UrgentQueue
  readonly #assembler: PieceAssembler
  readonly #progress = new WeakMap<UrgentMessage, Progress>()
  readonly #alarm: Alarm
  readonly #rate: RateControl
  readonly #shares: PublisherRates
  readonly #sent: SentFrames
  readonly #arrivals = new ArrivalLog()
  readonly #aliases: SentAliases
  readonly #known: KnownAliases
  #others = new InFlightWindow(othersWindow)
  /** When the next frame may leave. */
  #paceMs = -Infinity
  #rttMs: number | undefined
  /** When something was last heard of what is under way. */
  #heardMs = -Infinity
  #toldKbitPerS = 0
  #activeUntilMs = -Infinity
  #objects = 0
  #stopped = false

  constructor(channel: Channel, limits: UrgentLimits, modules: UrgentFlowModules) {
    this.#channel = channel
    this.#limits = limits
    this.#modules = modules
    this.#queue = new UrgentQueue(limits, { dropped: (why, message) => modules.dropped(why, message) })
    this.#assembler = new PieceAssembler(limits, { truncated: () => modules.dropped('truncated') })
    this.#alarm = new Alarm({ onDue: () => this.#onAlarm() }, { clock: modules.clock })
    this.#rate = new RateControl(limits)
    this.#shares = new PublisherRates(limits.maxUrgentQueueBatches)
    this.#sent = new SentFrames(limits.maxSentFrames)
    this.#aliases = new SentAliases(limits.maxUrgentAliases)
    this.#known = new KnownAliases(limits.maxUrgentAliases)
  }

  /** While there are urgent messages, others yield. */
  get isActive(): boolean {
    return this.#modules.clock.monotonicMs() < this.#activeUntilMs
  }

  /** Bytes of other packets that may be handed to the channel now. */
  get roomForOthers(): number {
    return this.isActive ? this.#others.roomBytes : Infinity
  }

  /** What the link carries of the urgent messages of one publisher, beside those of others. */
  kbitPerSOf(publisher: string): number {
    return this.#shares.partOf(publisher, this.#rate.kbitPerS, this.#modules.clock.monotonicMs())
  }

  offer(message: UrgentMessage): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (!this.isActive) this.#others = new InFlightWindow(othersWindow)
    this.#activeUntilMs = nowMs + this.#limits.yieldMs
    this.#shares.offered(message.publisher, message.batchBytes.length, nowMs)
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
    if (!this.#others.answered(token, this.#modules.clock.monotonicMs())) return false
    this.#modules.flushOthers()
    return true
  }

  onUrgent(body: Uint8Array): void {
    const parts = readUrgentParts(body)
    const batchBytes = this.#known.batchOf(parts)
    if (batchBytes === undefined) return this.#modules.dropped('truncated')
    this.#deliver(parts.remainingMs, batchBytes)
  }

  onPiece(piece: Piece): void {
    const assembled = this.#assembler.push(piece, this.#modules.clock.monotonicMs())
    this.#setAlarm()
    if (assembled !== undefined) this.#deliver(assembled.remainingMs, assembled.batchBytes)
  }

  /** A frame came whose arrival the peer wants to hear of. */
  onMark(number: number): void {
    const nowMs = this.#modules.clock.monotonicMs()
    this.#arrivals.add(number, nowMs)
    if (this.#arrivals.dueMs <= nowMs) this.#report()
    this.#setAlarm()
  }

  onArrivals(packet: Arrivals): void {
    const nowMs = this.#modules.clock.monotonicMs()
    const { arrived, aliases, lost, rttMs } = this.#sent.report(packet, nowMs)
    for (const alias of aliases) this.#aliases.arrived(alias)
    if (rttMs !== undefined) {
      this.#rttMs = rttMs
      this.#heardMs = nowMs
    }
    this.#rate.feedback({ arrived, lost, rttMs: this.#rttMs ?? 0 }, nowMs)
    this.#tellRate()
    this.flush()
  }

  /** Sends as much as there is room for. */
  flush(): void {
    const lane = this.#lane()
    for (;;) {
      const nowMs = this.#modules.clock.monotonicMs()
      const message = this.#stopped ? undefined : this.#queue.first(nowMs)
      if (message === undefined || this.#paceMs > nowMs || !this.#hasRoom(lane)) break
      this.#sendSome(message, nowMs, lane)
    }
    this.#probe()
    this.#setAlarm()
  }

  stop(): void {
    this.#stopped = true
    this.#alarm.set(Infinity)
  }

  #hasRoom(lane: DatagramLane | undefined): boolean {
    const mostBytes = inFlightBytes + (this.#rate.kbitPerS * ((this.#rttMs ?? 0) + inFlightMs)) / 8
    return (
      this.#sent.bytes < mostBytes &&
      (lane ?? this.#channel).bufferedBytes < this.#limits.maxUrgentBufferBytes
    )
  }

  #lane(): DatagramLane | undefined {
    const lane = this.#channel.datagrams
    if (this.#queue.size > 0) lane?.open()
    return lane?.isOpen === true ? lane : undefined
  }

  #deliver(remainingMs: number, batchBytes: Uint8Array): void {
    const [packet] = readPackets(urgentPacket(remainingMs, batchBytes))
    if (packet !== undefined) this.#modules.deliver(packet)
  }

  /** A message, or one piece of it. */
  #sendSome(message: UrgentMessage, nowMs: number, lane: DatagramLane | undefined): void {
    const remainingMs = Math.floor(message.deadlineMs - nowMs - (this.#modules.rttMs() ?? 0) / 2)
    if (remainingMs < 1) return this.#queue.done(message, true)
    const { batchBytes } = message
    const progress = this.#progressOf(message)
    if (progress === undefined) {
      const { alias, isKnown } = this.#aliases.nameOf(message)
      const headerBytes = isKnown ? 0 : message.headerBytes
      const bytes = isKnown ? batchBytes.subarray(message.headerBytes) : batchBytes
      const packet = aliasedUrgentPacket({ remainingMs, alias, headerBytes, bytes })
      this.#send(packet, message, isKnown ? 0 : alias, lane)
      return this.#queue.done(message)
    }
    const { object, index, pieceBytes } = progress
    const count = Math.ceil(batchBytes.length / pieceBytes)
    const bytes = batchBytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
    this.#send(encodePacket({ type: 'piece', object, index, count, remainingMs, bytes }), message, 0, lane)
    if (++progress.index === count) this.#queue.done(message)
  }

  /** Undefined for what is sent as it is. */
  #progressOf(message: UrgentMessage): Progress | undefined {
    const known = this.#progress.get(message)
    if (known !== undefined) return known
    const { urgentPieceBytes } = this.#limits
    const { length } = message.batchBytes
    const isSlow = this.#rate.kbitPerS < slowKbitPerS
    const pieceBytes = Math.max(
      Math.ceil(length / wireLimits.maxPieces),
      isSlow ? Math.ceil(urgentPieceBytes / 3) : urgentPieceBytes,
    )
    if (length <= pieceBytes) return undefined
    this.#objects = (this.#objects + 1) >>> 0
    const progress = { object: this.#objects, pieceBytes, index: 0 }
    this.#progress.set(message, progress)
    return progress
  }

  #send(packet: Uint8Array, message: UrgentMessage, alias: number, lane: DatagramLane | undefined): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (this.#sent.bytes === 0) this.#heardMs = nowMs
    const number = this.#sent.add({ sentMs: nowMs, bytes: packet.length, alias })
    const tookMs = (packet.length * 8) / (paceFactor * this.#rate.kbitPerS)
    this.#paceMs = Math.max(this.#paceMs, nowMs - paceBurstMs) + tookMs
    this.#queue.sent(message, packet.length, nowMs)
    this.#modules.stats.packetsOut++
    this.#hand(joined(encodePacket({ type: 'mark', number }), packet), lane)
  }

  #hand(frame: Uint8Array, lane: DatagramLane | undefined): void {
    if (lane === undefined) return this.#modules.hand(frame)
    this.#modules.stats.framesOut++
    this.#modules.stats.bytesOut += frame.length
    lane.send(frame)
  }

  /** Tells the peer when its frames came. */
  #report(): void {
    const { datagrams } = this.#channel
    const report = this.#arrivals.take(this.#modules.clock.monotonicMs())
    this.#hand(encodePacket(report), datagrams?.isOpen === true ? datagrams : undefined)
  }

  #tellRate(): void {
    const { kbitPerS } = this.#rate
    if (Math.abs(kbitPerS - this.#toldKbitPerS) < toldShare * this.#toldKbitPerS) return
    this.#toldKbitPerS = kbitPerS
    this.#modules.rateChanged()
  }

  /** A ping follows other packets, on the same path. */
  #probe(): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (this.#stopped || this.#others.probeDueMs(nowMs) > nowMs) return
    // As of the heartbeat: nobody can answer before it arrives.
    const token = this.#modules.random.bytes(4).reduce((number, byte) => number * 256 + byte, 0)
    this.#others.probed(token, nowMs)
    this.#modules.hand(encodePacket({ type: 'ping', token }))
  }

  get #starvedDueMs(): number {
    if (this.#sent.bytes === 0) return Infinity
    return Math.max(this.#heardMs, this.#sent.oldestMs) + (this.#rttMs ?? 0) + starvedMs
  }

  #setAlarm(): void {
    if (this.#stopped) return
    const nowMs = this.#modules.clock.monotonicMs()
    const waits = this.#queue.size > 0
    this.#alarm.set(
      Math.min(
        waits ? Math.max(this.#paceMs, this.#hasRoom(this.#lane()) ? nowMs : nowMs + lookAgainMs) : Infinity,
        ...[this.#starvedDueMs, this.#arrivals.dueMs, this.#others.probeDueMs(nowMs), this.#assembler.dueMs],
        this.isActive ? this.#activeUntilMs : Infinity,
      ),
    )
  }

  #onAlarm(): void {
    const nowMs = this.#modules.clock.monotonicMs()
    if (this.#starvedDueMs <= nowMs) {
      this.#sent.clear()
      this.#rate.starved(nowMs)
      this.#tellRate()
    }
    if (this.#arrivals.dueMs <= nowMs) this.#report()
    this.#assembler.forgetLate(nowMs)
    this.flush()
    // They yield no longer, or a ping of theirs was due.
    this.#modules.flushOthers()
  }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}
