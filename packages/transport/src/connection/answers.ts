import { encodePacket, type Clock } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { DatagramLane } from './channel.ts'
import type { ConnectionLimits } from './limits.ts'
import type { Outflow } from './outflow.ts'
import { RateWindow } from './rate-window.ts'

interface AnswersModules {
  readonly clock: Clock
  readonly outflow: Outflow
}

type AnswersLimits = Pick<ConnectionLimits, 'maxPingsPerSecond' | 'maxQueueBytes'>

/**
 * What a peer gets for asking: pongs, and reports of arrivals. They wait for nothing, and a peer that asks and hardly reads gets none beyond the limit
 * of the queue. Other packets alone never take it there.
 */
export class Answers {
  readonly #limits: AnswersLimits
  readonly #modules: AnswersModules
  readonly #pings: RateWindow

  constructor(limits: AnswersLimits, modules: AnswersModules) {
    this.#limits = limits
    this.#modules = modules
    this.#pings = new RateWindow(limits.maxPingsPerSecond, 1000)
  }

  /** Whether one may be sent now, by a lane or the channel. */
  mayLeave(lane: DatagramLane | undefined): boolean {
    return (lane?.bufferedBytes ?? this.#modules.outflow.queuedBytes) <= this.#limits.maxQueueBytes
  }

  /**
   * Answers a ping by the way that it came: by a lane, or the channel, where it jumps the queue if the peer takes that. Throws PROTOCOL_VIOLATION when
   * there are too many.
   */
  pinged(token: number, { lane, mayJump }: { lane: DatagramLane | undefined; mayJump: boolean }): void {
    const { maxPingsPerSecond } = this.#limits
    const { clock, outflow } = this.#modules
    if (!this.#pings.admit(clock.monotonicMs()))
      throw transportError('PROTOCOL_VIOLATION', `more than ${maxPingsPerSecond} pings in a second`)
    if (!this.mayLeave(lane)) return
    const pong = encodePacket({ type: 'pong', token })
    if (lane !== undefined) lane.send(pong)
    else if (mayJump) outflow.jump(pong)
    else outflow.forceNow(pong)
  }
}
