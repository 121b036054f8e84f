import type { Cancel, Clock, Random } from '@runnel/protocol'
import type { ConnectionLimits } from './limits.ts'
import type { Outflow } from './outflow.ts'

/** RFC 6298, section 2: the weight of a new sample in the smoothed round-trip time. */
const newSampleWeight = 1 / 8
/** Of one after a pause of more than twice `pingIntervalMs`: there are fewer then, and what a busy start measured should not stay for minutes. */
const rareSampleWeight = 1 / 4

/** With each answer. */
const growth = 2

/** By how much of itself a grown interval is shortened, at random: so that the ends of a link rarely ping each other at the same time. */
const spread = 0.2

/** Grown intervals end on a whole second of the process's clock: all links' pings share one wake-up, which costs more than they do. */
const gridMs = 1_000

const nothing: Cancel = () => {}
/** Of every link whose pings are answered. */
const none = [] as const

interface HeartbeatModules {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes' | 'next'>
  readonly outflow: Pick<Outflow, 'queuedBytes' | 'leftBytes'>
  sendPing(token: number): void
  onDead(): void
}

type HeartbeatOptions = Pick<
  ConnectionLimits,
  'pingIntervalMs' | 'maxPingIntervalMs' | 'maxMissedPongs' | 'rttIntervalMs'
>

/**
 * Pings a silent peer, measures the round-trip time, and notices when the peer is dead: `pingIntervalMs` × (1 + `maxMissedPongs`) after the last use of
 * the link at the latest. Where nothing but pings goes over it the pings become fewer, and it may take `maxPingIntervalMs` in place of the first of these.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #modules: HeartbeatModules
  /** The pings without an answer, in the order in which they were sent. At most `maxMissedPongs` + 1. */
  #sent: readonly { readonly token: number; readonly atMs: number }[] = none
  #rttMs: number | undefined
  /** When the ping of the last sample was sent. */
  #sampledMs: number | undefined
  #lastPingMs = 0
  #lastHeardMs = 0
  #missed = 0
  #leftBytes = 0
  #intervalMs: number
  /** After so long a silence a ping goes out: the interval, or a little less. */
  #silenceMs: number
  #cancelTick: Cancel = nothing
  #isStopped = false

  constructor(options: HeartbeatOptions, modules: HeartbeatModules) {
    this.#options = options
    this.#modules = modules
    this.#intervalMs = this.#silenceMs = options.pingIntervalMs
  }

  /** Smoothed; undefined before the first pong. */
  get rttMs(): number | undefined {
    return this.#rttMs
  }

  /** See `Connection`. */
  get answeredMs(): number | undefined {
    return this.#sampledMs
  }

  /** Sends the first ping at once: the round-trip time is needed as soon as there is a link. */
  start(): void {
    this.#lastHeardMs = this.#modules.clock.monotonicMs()
    this.#ping(this.#lastHeardMs)
    this.#tickAfter(this.#options.pingIntervalMs)
  }

  /** Also while it sends a ping: that may make room, and whoever waited for it may end the connection. */
  stop(): void {
    this.#isStopped = true
    this.#cancelTick()
  }

  /** Something came from the peer. */
  heard(): void {
    this.#lastHeardMs = this.#modules.clock.monotonicMs()
    this.#missed = 0
  }

  /** Something else than pings goes over the link, either way: it should be noticed soon if nobody is there. */
  used(): void {
    const { pingIntervalMs } = this.#options
    if (this.#intervalMs === pingIntervalMs) return
    this.#setInterval(pingIntervalMs)
    // After a ping that was not answered yet, the next look is as soon.
    if (this.#missed === 0) this.#tickAfter(pingIntervalMs)
  }

  /** The peer asked, so that this end need not for now, but for the round-trip time. */
  pinged(): void {
    if (!this.#isGrown || this.#missed > 0) return
    const nowMs = this.#modules.clock.monotonicMs()
    if (nowMs - this.#lastPingMs >= this.#options.rttIntervalMs) this.#ping(nowMs)
    this.#tickAfter(this.#silenceMs)
  }

  /** A pong that answers no ping of ours is ignored. */
  onPong(token: number): void {
    const place = this.#sent.findIndex((ping) => ping.token === token)
    const sentAtMs = this.#sent[place]?.atMs
    if (sentAtMs === undefined) return
    // Pongs come in order: one that is still missing for an older ping was lost.
    this.#sent = place + 1 === this.#sent.length ? none : this.#sent.slice(place + 1)
    this.#addSample(this.#modules.clock.monotonicMs() - sentAtMs, sentAtMs)
    this.#answered()
  }

  #addSample(sampleMs: number, sentAtMs: number): void {
    const isRare = sentAtMs - (this.#sampledMs ?? 0) > 2 * this.#options.pingIntervalMs
    const weight = isRare ? rareSampleWeight : newSampleWeight
    this.#rttMs = this.#rttMs === undefined ? sampleMs : this.#rttMs + weight * (sampleMs - this.#rttMs)
    this.#sampledMs = sentAtMs
  }

  #answered(): void {
    const { pingIntervalMs, maxPingIntervalMs } = this.#options
    this.#setInterval(Math.max(pingIntervalMs, Math.min(maxPingIntervalMs, growth * this.#intervalMs)))
    this.#tickAfter(this.#silenceMs)
  }

  get #isGrown(): boolean {
    return this.#intervalMs > this.#options.pingIntervalMs
  }

  #setInterval(intervalMs: number): void {
    this.#intervalMs = intervalMs
    this.#silenceMs = this.#isGrown ? intervalMs * (1 - spread * this.#modules.random.next()) : intervalMs
  }

  /** After a grown interval at the last second of the clock before that; but an answer is waited for as long as ever: timers may fire just before the second. */
  #tickAfter(delayMs: number): void {
    if (this.#isStopped) return
    this.#cancelTick()
    if (this.#isGrown && this.#missed === 0) {
      const nowMs = this.#modules.clock.monotonicMs()
      delayMs = Math.max(1, Math.floor((nowMs + delayMs) / gridMs) * gridMs - nowMs)
    }
    this.#cancelTick = this.#modules.clock.schedule(delayMs, () => this.#tick())
  }

  #tick(): void {
    const { pingIntervalMs, maxMissedPongs, rttIntervalMs } = this.#options
    const nowMs = this.#modules.clock.monotonicMs()
    const silentMs = nowMs - this.#lastHeardMs
    if (silentMs < this.#silenceMs - (this.#isGrown ? gridMs : 0)) {
      if (nowMs - this.#lastPingMs >= rttIntervalMs) this.#ping(nowMs)
      // At least a millisecond: a remainder left by rounding may be too small to advance a clock at all.
      return this.#tickAfter(Math.max(1, this.#silenceMs - silentMs))
    }
    // Pings queue behind data: while a backlog is moving, a missing pong only means that the ping has not got there yet.
    if (this.#isDraining()) this.#missed = 0
    if (this.#missed >= maxMissedPongs) return this.#modules.onDead()
    if (this.#missed > 0) this.#setInterval(pingIntervalMs)
    this.#missed++
    this.#ping(nowMs)
    this.#tickAfter(pingIntervalMs)
  }

  #isDraining(): boolean {
    const { outflow } = this.#modules
    const before = this.#leftBytes
    this.#leftBytes = outflow.leftBytes
    return outflow.queuedBytes > 0 && outflow.leftBytes > before
  }

  #ping(nowMs: number): void {
    // Nobody can answer a ping before it arrives, and so appear nearer than it is.
    const token = this.#modules.random.bytes(4).reduce((number, byte) => number * 256 + byte, 0)
    this.#lastPingMs = nowMs
    this.#sent = [...this.#sent.slice(-this.#options.maxMissedPongs), { token, atMs: nowMs }]
    this.#modules.sendPing(token)
  }
}
