import type { Clock } from '@runnel/protocol'
import type { DatagramLane } from './channel.ts'
import type { ConnectionLimits } from './limits.ts'
import { Outflow } from './outflow.ts'
import type { MutableStats } from './stats.ts'

interface LossyFlowModules {
  readonly clock: Clock
  readonly stats: MutableStats
  rttMs(): number | undefined
}

/** SCTP notices a loss by what comes after it, a round trip later; were frames given up before, it would take each loss for a link that is down. */
const roundTripsOfLife = 2

/**
 * Packets that others bring when this link does not, or that are asked for again, by the channel's lane that sends again only for a while:
 * none of them waits for an earlier one that was lost, and a link that is too slow keeps those that are new. The lane opens when it is first needed and the round-trip time is
 * known.
 */
export class LossyFlow {
  readonly #lane: DatagramLane
  readonly #limits: ConnectionLimits
  readonly #modules: LossyFlowModules
  readonly #outflow: Outflow

  constructor(lane: DatagramLane, limits: ConnectionLimits, modules: LossyFlowModules) {
    this.#lane = lane
    this.#limits = limits
    this.#modules = modules
    // What the lane takes leaves it or is dropped, so nothing waits before it.
    const endless = { ...limits, highMarkBytes: Infinity }
    const channel = {
      maxFrameBytes: limits.maxLossyFrameBytes,
      get bufferedBytes() {
        return lane.bufferedBytes
      },
      send: (frame: Uint8Array) => lane.send(frame),
    }
    this.#outflow = new Outflow(channel, endless, { ...modules, onDrain: () => {}, onStalled: () => {} })
  }

  get queuedBytes(): number {
    return this.#outflow.queuedBytes
  }

  /** Queues a packet for the end of the turn. False where it has to go by the channel: it is too large, or too much waits. */
  offer(packet: Uint8Array): boolean {
    const { maxLossyFrameBytes, maxLossyQueueBytes } = this.#limits
    if (!this.#lane.isOpen) this.#open()
    if (!this.#lane.isOpen || packet.length > maxLossyFrameBytes) return false
    return this.queuedBytes + packet.length <= maxLossyQueueBytes && this.#outflow.offer(packet)
  }

  stop(): void {
    this.#outflow.stop()
  }

  #open(): void {
    const rttMs = this.#modules.rttMs()
    if (rttMs === undefined) return
    const { minLossyLifeMs, maxLossyLifeMs } = this.#limits
    const lifeMs = Math.ceil(minLossyLifeMs + roundTripsOfLife * rttMs)
    this.#lane.open(Math.min(maxLossyLifeMs, lifeMs))
  }
}
