import { encodePacket, type Arrivals, type Clock, type UrgentMessage } from '@runnel/protocol'
import type { DatagramLane } from '../connection/channel.ts'
import type { UrgentLimits } from './limits.ts'
import { RateControl } from './rate-control.ts'
import { Repeats, type Repeatable } from './repeats.ts'
import { SentFrames } from './sent-frames.ts'
import { Shortest } from './shortest.ts'
import { UrgentPackets } from './urgent-packets.ts'
import { UrgentQueue, type UrgentDrop } from './urgent-queue.ts'

/** How soon a full channel is looked at again: not every channel reports room. */
const lookAgainMs = 5
/** Frames leave a little faster than the rate, so that what a publisher sends at that does not wait here. */
const paceFactor = 1.25
/** How much lateness of a timer may be made up for. */
const paceBurstMs = 5
/** One message of priority 0 and no larger waits for no turn: a page that is being closed has no later one. The next may do so after this long. */
const atOnce = { maxBytes: 1_200, everyMs: 1_000 }
/** Below it, and before much has come, pieces are small, as each takes its time on the line. */
const slowKbitPerS = 4_000
/** As much may be in flight as the rate sends in a round trip plus this long, and some more. */
const inFlightMs = 300
const inFlightBytes = 8 * 1024
/** Before the first queue, no more may be in flight than this many times what has arrived, and `inFlightBytes`: a slow line shows itself by how little comes. */
const startFactor = 2
/** Frames in flight are given up when nothing is heard for a round trip plus this long. */
const starvedMs = 1_000
/** A timer this late shows that the process was held up: it has not yet taken what the peer told meanwhile. */
const heldUpMs = 100
/** A round trip of urgent frames counts for this long; then the heartbeat's is used. */
const freshMs = 1_000

export interface UrgentSenderModules {
  readonly clock: Clock
  rttMs(): number | undefined
  /** The lane for datagrams, where it is open. */
  lane(): DatagramLane | undefined
  /** Bytes that the channel or the lane holds. */
  bufferedBytes(lane: DatagramLane | undefined): number
  /** Hands a frame to the lane, or to the channel where there is none. */
  hand(frame: Uint8Array, lane: DatagramLane | undefined): void
  dropped(why: UrgentDrop, message: UrgentMessage): void
  /** A packet that was lost was sent again. */
  repeated(): void
}

/**
 * Sends the urgent messages of a connection at the rate that the link carries, as the peer tells of the arrival of each frame. What is lost is
 * sent again while its time lasts.
 */
export class UrgentSender {
  readonly #limits: UrgentLimits
  readonly #modules: UrgentSenderModules
  readonly #queue: UrgentQueue
  readonly #packets: UrgentPackets
  readonly #rate: RateControl
  readonly #sent: SentFrames
  readonly #repeats: Repeats
  /** When the next frame may leave. */
  #paceMs = -Infinity
  /** When a message left before its turn. */
  #atOnceMs = -Infinity
  #rtt = { ms: 0, atMs: -Infinity }
  readonly #shortestRtt = new Shortest()
  /** When something was last heard of what is under way. */
  #heardMs = -Infinity
  #wasHeldUp = false
  /** Of urgent frames, so far. */
  #arrivedBytes = 0

  constructor(limits: UrgentLimits, modules: UrgentSenderModules) {
    this.#limits = limits
    this.#modules = modules
    this.#queue = new UrgentQueue(limits, modules)
    this.#packets = new UrgentPackets(limits)
    this.#rate = new RateControl(limits)
    this.#sent = new SentFrames(limits.maxSentFrames)
    this.#repeats = new Repeats(limits.maxSentFrames)
  }

  /** What the link carries. */
  get rate(): Pick<RateControl, 'kbitPerS' | 'isLimited'> {
    return this.#rate
  }

  /** Whether something waits. */
  get hasSome(): boolean {
    return this.#queue.size > 0 || this.#repeats.size > 0
  }

  /** Packets are cut to so many bytes, between which others come. */
  get pieceBytes(): number {
    const { urgentPieceBytes } = this.#limits
    const { kbitPerS, isLimited } = this.#rate
    const mayBeSlow = isLimited ? kbitPerS < slowKbitPerS : this.#arrivedBytes < inFlightBytes
    return mayBeSlow ? Math.ceil(urgentPieceBytes / 3) : urgentPieceBytes
  }

  push(message: UrgentMessage): void {
    this.#queue.push(message, this.#nowMs)
  }

  /** Sends as much as there is room for. */
  flush(): void {
    const lane = this.#modules.lane()
    for (;;) {
      const nowMs = this.#nowMs
      const message = this.#queue.first(nowMs)
      if (!this.#mayLeave(message, nowMs, lane)) return
      const repeat = this.#repeats.takeBefore(message?.priority ?? Infinity, this.#arrivesMs)
      if (repeat !== undefined) this.#sendAgain(repeat, lane)
      else if (message !== undefined) this.#sendSome(message, nowMs, lane)
      else return
    }
  }

  /** The peer tells which frames came. */
  arrived(packet: Arrivals): void {
    const nowMs = this.#nowMs
    const { arrived, aliases, lost, missing, rttMs } = this.#sent.report(packet, nowMs)
    for (const alias of aliases) this.#packets.aliasArrived(alias)
    if (rttMs !== undefined) {
      this.#rtt = { ms: rttMs, atMs: nowMs }
      this.#shortestRtt.add(rttMs, nowMs)
      this.#heardMs = nowMs
      this.#wasHeldUp = false
    }
    this.#repeats.add(missing)
    for (const { bytes, isOther } of arrived) if (!isOther) this.#arrivedBytes += bytes
    this.#rate.feedback({ arrived, lost, rttMs: this.#roundTripMs }, nowMs)
  }

  /** Packets as a frame, with a mark, so that the peer tells of its arrival; an urgent one with what is needed to send it again. */
  marked(packets: Uint8Array, repeatable?: Repeatable): Uint8Array {
    const number = this.#sent.add({ repeatable, bytes: packets.length, sentMs: this.#nowMs })
    const mark = encodePacket({ type: 'mark', number })
    const frame = new Uint8Array(mark.length + packets.length)
    frame.set(mark)
    frame.set(packets, mark.length)
    return frame
  }

  /** When `flush` has to be called again; Infinity for never. */
  get sendDueMs(): number {
    if (!this.hasSome) return Infinity
    return this.#hasRoom(this.#modules.lane())
      ? this.#paceMs
      : Math.max(this.#paceMs, this.#nowMs + lookAgainMs)
  }

  /** When too long nothing was heard of what is under way; Infinity for never. */
  get starvedDueMs(): number {
    return this.#sent.bytes === 0 ? Infinity : this.#heardMs + this.#roundTripMs + starvedMs
  }

  /** Gives up what is under way. Where this process was held up it is waited for once more. */
  starved(): void {
    const isHeldUp = this.#nowMs - this.starvedDueMs >= heldUpMs && !this.#wasHeldUp
    this.#wasHeldUp = isHeldUp
    if (isHeldUp) {
      this.#heardMs = this.#nowMs
      return
    }
    this.#sent.writeOff()
    this.#rate.starved(this.#nowMs)
  }

  get #nowMs(): number {
    return this.#modules.clock.monotonicMs()
  }

  get #roundTripMs(): number {
    // One of a time when much waited would have all that comes now dropped as late, and nothing would show that it has passed.
    return this.#nowMs - this.#rtt.atMs < freshMs ? this.#rtt.ms : (this.#modules.rttMs() ?? 0)
  }

  /**
   * When what is sent now is there: half of the shortest round trip and of what waits on the line, as the peer's clock tells: a round trip of now also has
   * in it how long this process took to take the report, and where it is busy for seconds all that it sends would be dropped as late.
   */
  get #arrivesMs(): number {
    const nowMs = this.#nowMs
    // Where nothing is sent, as all would be late, the heartbeat still measures.
    const rttMs = Math.min(this.#shortestRtt.value ?? Infinity, this.#modules.rttMs() ?? Infinity)
    const waitingMs = nowMs - this.#rtt.atMs < freshMs ? this.#rate.waitingMs : 0
    return nowMs + (waitingMs + (rttMs === Infinity ? 0 : rttMs)) / 2
  }

  #mayLeave(message: UrgentMessage | undefined, nowMs: number, lane: DatagramLane | undefined): boolean {
    if (this.#paceMs <= nowMs && this.#hasRoom(lane)) return true
    const isSmall = message?.priority === 0 && message.batchBytes.length <= atOnce.maxBytes
    if (!isSmall || nowMs - this.#atOnceMs < atOnce.everyMs) return false
    this.#atOnceMs = nowMs
    return true
  }

  #hasRoom(lane: DatagramLane | undefined): boolean {
    return (
      this.#sent.bytes < this.#mostInFlightBytes &&
      this.#modules.bufferedBytes(lane) < this.#limits.maxUrgentBufferBytes
    )
  }

  get #mostInFlightBytes(): number {
    const { kbitPerS, isLimited } = this.#rate
    // What waits on the line is in the present round trip, and would have more wait.
    const rttMs = Math.min(this.#roundTripMs, this.#shortestRtt.value ?? Infinity)
    const mostBytes = inFlightBytes + (kbitPerS * (rttMs + inFlightMs)) / 8
    return isLimited ? mostBytes : Math.min(mostBytes, inFlightBytes + startFactor * this.#arrivedBytes)
  }

  /** A message, or one piece of it. */
  #sendSome(message: UrgentMessage, nowMs: number, lane: DatagramLane | undefined): void {
    const { deadlineMs, priority } = message
    const remainingMs = Math.floor(deadlineMs - this.#arrivesMs)
    if (remainingMs < 1) return this.#queue.done(message, true)
    const { packet, alias, isLast } = this.#packets.next(message, remainingMs, this.pieceBytes)
    this.#queue.sent(message, packet.length, nowMs)
    if (isLast) this.#queue.done(message)
    this.#send({ packet, alias, deadlineMs, priority, repeats: 0 }, lane)
  }

  #sendAgain(repeat: Repeatable, lane: DatagramLane | undefined): void {
    this.#send(repeat, lane)
    this.#modules.repeated()
  }

  #send(repeatable: Repeatable, lane: DatagramLane | undefined): void {
    const nowMs = this.#nowMs
    const { packet } = repeatable
    if (this.#sent.bytes === 0) this.#heardMs = nowMs
    const tookMs = (packet.length * 8) / (paceFactor * this.#rate.kbitPerS)
    this.#paceMs = Math.max(this.#paceMs, nowMs - paceBurstMs) + tookMs
    this.#modules.hand(this.marked(packet, repeatable), lane)
  }
}
