import type { Clock, NodeId, Random } from '@runnel/protocol'
import type { Channel } from '../connection/channel.ts'
import type { MemoryNetworkSettings, NodeCondition } from './memory-options.ts'

/** What all ways of a network have in common. */
export interface WayNetwork {
  readonly settings: MemoryNetworkSettings
  readonly clock: Clock
  readonly random: Random
  condition(nodeId: NodeId): NodeCondition
  /** An end of a node's is closed. */
  gone(nodeId: NodeId, channel: Channel): void
}

/** Which dial of a node to another it came of. */
export interface MemoryDial {
  readonly from: NodeId
  readonly to: NodeId
  readonly number: number
}

/**
 * One direction of a channel, from the end that has it: a large network has millions, so that it holds no more than who is at its ends, and asks the
 * network for the rest.
 */
export class MemoryWay {
  readonly #network: WayNetwork
  readonly #dial: MemoryDial
  readonly #isBack: boolean
  readonly condition: NodeCondition
  readonly latencyMs: number
  readonly lowMarkBytes: number

  constructor(
    network: WayNetwork,
    dial: MemoryDial,
    options: { readonly isBack: boolean; readonly latencyMs: number; readonly lowMarkBytes: number },
  ) {
    this.#network = network
    this.#dial = dial
    this.#isBack = options.isBack
    this.latencyMs = options.latencyMs
    this.lowMarkBytes = options.lowMarkBytes
    this.condition = network.condition(this.#self)
  }

  get #self(): NodeId {
    return this.#isBack ? this.#dial.to : this.#dial.from
  }

  get #other(): NodeId {
    return this.#isBack ? this.#dial.from : this.#dial.to
  }

  get clock(): Clock {
    return this.#network.clock
  }

  get jitterMs(): number {
    return this.#network.settings.jitterMs
  }

  get windowBytes(): number {
    return this.#network.settings.windowBytes
  }

  /** The address of the other end. */
  get remoteAddress(): string | undefined {
    return this.#network.settings.addressOf(this.#other)
  }

  /** Where something is left to chance: the same each time. */
  random(): Random {
    return chanceOf(this.#network, this.#dial).fork(this.#isBack ? 'back' : 'out')
  }

  /** The part of what goes this way that is lost at present. */
  lossRate(): number {
    const { lossRate } = this.#network.settings
    return typeof lossRate === 'number' ? lossRate : lossRate(this.#self, this.#other)
  }

  /** What it carries at present. */
  bytesPerMs(): number {
    const { bytesPerMs } = this.#network.settings
    return typeof bytesPerMs === 'number' ? bytesPerMs : bytesPerMs(this.#self, this.#other)
  }

  gone(channel: Channel): void {
    this.#network.gone(this.#self, channel)
  }
}

/** What a dial, and the channel that comes of it, leave to chance: the same whatever other links there are. */
export function chanceOf({ random }: Pick<WayNetwork, 'random'>, { from, to, number }: MemoryDial): Random {
  return random.fork(`${from}>${to}#${number}`)
}
