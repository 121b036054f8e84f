import type { Cancel, Clock, Random } from '@runnel/protocol'
import type { ConnectionLimits } from './limits.ts'
import type { Outflow } from './outflow.ts'

/** RFC 6298, section 2: the weight of a new sample in the smoothed round-trip time. */
const newSampleWeight = 1 / 8

interface HeartbeatModules {
  readonly clock: Clock
  readonly random: Pick<Random, 'bytes'>
  readonly outflow: Pick<Outflow, 'queuedBytes' | 'leftBytes'>
  sendPing(token: number): void
  onDead(): void
}

type HeartbeatOptions = Pick<ConnectionLimits, 'pingIntervalMs' | 'maxMissedPongs' | 'rttIntervalMs'>

/** Pings a silent peer, measures the round-trip time, and notices when the peer is dead. */
export class Heartbeat {
  readonly #options: HeartbeatOptions
  readonly #modules: HeartbeatModules
  /** When the pings without an answer were sent, by token. At most `maxMissedPongs` + 1. */
  readonly #sentAtMs = new Map<number, number>()
  #rttMs: number | undefined
  #lastPingMs = 0
  #lastHeardMs = 0
  #missed = 0
  #leftBytes = 0
  #cancelTick: Cancel = () => {}

  constructor(options: HeartbeatOptions, modules: HeartbeatModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Smoothed; undefined before the first pong. */
  get rttMs(): number | undefined {
    return this.#rttMs
  }

  /** Sends the first ping at once: the round-trip time is needed as soon as there is a link. */
  start(): void {
    this.#lastHeardMs = this.#modules.clock.monotonicMs()
    this.#ping(this.#lastHeardMs)
    this.#tickAfter(this.#options.pingIntervalMs)
  }

  stop(): void {
    this.#cancelTick()
  }

  /** Something came from the peer. */
  heard(): void {
    this.#lastHeardMs = this.#modules.clock.monotonicMs()
    this.#missed = 0
  }

  /** A pong that answers no ping of ours is ignored. */
  onPong(token: number): void {
    const sentAtMs = this.#sentAtMs.get(token)
    if (sentAtMs === undefined) return
    // Pongs come in order: one that is still missing for an older ping was lost.
    for (const older of this.#sentAtMs.keys()) {
      this.#sentAtMs.delete(older)
      if (older === token) break
    }
    const sampleMs = this.#modules.clock.monotonicMs() - sentAtMs
    this.#rttMs =
      this.#rttMs === undefined ? sampleMs : this.#rttMs + newSampleWeight * (sampleMs - this.#rttMs)
  }

  #tickAfter(delayMs: number): void {
    this.#cancelTick = this.#modules.clock.schedule(delayMs, () => this.#tick())
  }

  #tick(): void {
    const { pingIntervalMs, maxMissedPongs, rttIntervalMs } = this.#options
    const nowMs = this.#modules.clock.monotonicMs()
    const silentMs = nowMs - this.#lastHeardMs
    if (silentMs < pingIntervalMs) {
      if (nowMs - this.#lastPingMs >= rttIntervalMs) this.#ping(nowMs)
      // At least a millisecond: a remainder left by rounding may be too small to advance a clock at all.
      return this.#tickAfter(Math.max(1, pingIntervalMs - silentMs))
    }
    // Pings queue behind data: while a backlog is moving, a missing pong only means that the ping has not got there yet.
    if (this.#isDraining()) this.#missed = 0
    if (this.#missed >= maxMissedPongs) return this.#modules.onDead()
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
    for (const oldest of this.#sentAtMs.keys()) {
      if (this.#sentAtMs.size <= this.#options.maxMissedPongs) break
      this.#sentAtMs.delete(oldest)
    }
    this.#sentAtMs.set(token, nowMs)
    this.#modules.sendPing(token)
  }
}
