import type { Clock, Random } from '@runnel/protocol'
import type { Channel, ChannelEvents } from '../connection/channel.ts'
import type { MemoryNetworkSettings, NodeCondition } from './memory-options.ts'

export interface MemoryChannelOptions extends Omit<
  MemoryNetworkSettings,
  'latencyMs' | 'seed' | 'connectFailureRate' | 'lossRate' | 'addressOf' | 'bytesPerMs'
> {
  /** Applies to what this end sends. */
  readonly latencyMs: number
  readonly lowMarkBytes: number
}

export interface MemoryChannelModules {
  readonly clock: Clock
  /** Where something is left to chance: the same each time. */
  random(): Random
  /** The address of the other end. */
  readonly remoteAddress: string | undefined
  /** The condition of the node that has this end. */
  readonly condition: NodeCondition
  /** The part of what this end sends that is lost at present. */
  lossRate(): number
  /** What it carries at present. */
  bytesPerMs(): number
  onGone(channel: MemoryChannel): void
}

/** Marks the end of everything sent, in its place in the order. */
const fin = Symbol('fin')
type Item = Uint8Array | typeof fin

const noBinding = new Uint8Array(0)
/** How much this channel accepts at once. */
const largestFrameBytes = 2 * 1024 * 1024

/** One end of a channel in memory. What it sends is queued here, in flight, or unread at the other end. */
export class MemoryChannel implements Channel {
  readonly kind = 'memory'
  readonly maxFrameBytes = largestFrameBytes
  readonly binding = noBinding
  events: ChannelEvents = { onFrame() {}, onDrain() {}, onClose() {} }
  /** Called after `events.onClose`; the transport's. */
  onGone: () => void = () => {}
  readonly #options: MemoryChannelOptions
  readonly #modules: MemoryChannelModules
  #random: Random | undefined
  #other: MemoryChannel = this
  #state: 'open' | 'closing' | 'closed' = 'open'
  #waiting: Item[] = []
  #bufferedBytes = 0
  #aboveLowMark = false
  /** Bytes sent by this end that are in flight or unread at the other end. */
  #inWindowBytes = 0
  /** When the last frame left, and when it arrives. */
  #lineFreeAtMs = 0
  #lastArrivalMs = 0
  /** Frames that have arrived here unread. */
  #unread: Item[] = []

  constructor(options: MemoryChannelOptions, modules: MemoryChannelModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Connects this end with `other`. */
  join(other: MemoryChannel): void {
    this.#other = other
    other.#other = this
  }

  get remoteAddress(): string | undefined {
    return this.#modules.remoteAddress
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes
  }

  send(frame: Uint8Array): void {
    if (this.#state === 'open') this.#enqueue(frame)
  }

  close(abrupt = false): void {
    if (this.#state === 'closed') return
    if (abrupt) return this.#break()
    if (this.#state === 'closing') return
    this.#state = 'closing'
    this.#enqueue(fin)
  }

  #break(): void {
    const { clock, condition } = this.#modules
    const { latencyMs } = this.#options
    const other = this.#other
    clock.schedule(
      latencyMs,
      () => condition.online && other.#modules.condition.online && other.#gone('the link broke'),
    )
    this.#state = 'closing'
    clock.endOfTurn(() => this.#gone('closed'))
  }

  #enqueue(item: Item): void {
    this.#waiting.push(item)
    this.#bufferedBytes += sizeOf(item)
    this.#pump()
    if (this.#bufferedBytes > this.#options.lowMarkBytes) this.#aboveLowMark = true
  }

  /** Sends what the window has room for. A frame larger than the window goes alone. */
  #pump(): void {
    let taken = 0
    for (const item of this.#waiting) {
      const size = sizeOf(item)
      if (this.#inWindowBytes > 0 && this.#inWindowBytes + size > this.#options.windowBytes) break
      taken++
      this.#bufferedBytes -= size
      this.#inWindowBytes += size
      this.#travel(item)
    }
    if (taken > 0) this.#waiting.splice(0, taken)
  }

  #travel(item: Item): void {
    const { clock, condition } = this.#modules
    const { latencyMs, jitterMs } = this.#options
    const tookMs = sizeOf(item) / this.#modules.bytesPerMs()
    this.#lineFreeAtMs = Math.max(this.#lineFreeAtMs, clock.monotonicMs()) + tookMs
    const delayMs = latencyMs + (jitterMs > 0 ? this.#chance() * jitterMs : 0)
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, this.#lineFreeAtMs + delayMs)
    const lossRate = item === fin ? 0 : this.#modules.lossRate()
    const lost = !condition.online || (lossRate > 0 && this.#chance() < lossRate)
    clock.schedule(this.#lastArrivalMs - clock.monotonicMs(), () => {
      if (lost) this.#left(item)
      else this.#other.#arrived(item)
    })
  }

  #chance(): number {
    this.#random ??= this.#modules.random()
    return this.#random.next()
  }

  #arrived(item: Item): void {
    if (this.#state === 'closed') return
    const { online, reading } = this.#modules.condition
    if (!online) return this.#other.#left(item)
    if (!reading || this.#unread.length > 0) this.#unread.push(item)
    else this.#take(item)
  }

  /** Delivers the unread frames. */
  resumeReading(): void {
    const { condition } = this.#modules
    while (condition.reading && this.#state !== 'closed') {
      const item = this.#unread.shift()
      if (item === undefined) return
      this.#take(item)
    }
  }

  #take(item: Item): void {
    if (item === fin) {
      this.#other.#gone('closed')
      return this.#gone('closed by the other side')
    }
    this.events.onFrame(item)
    this.#other.#left(item)
  }

  /** Something this end sent was read and frees its room in the window. */
  #left(item: Item): void {
    if (this.#state === 'closed') return
    this.#inWindowBytes -= sizeOf(item)
    this.#pump()
    if (!this.#aboveLowMark || this.#bufferedBytes > this.#options.lowMarkBytes) return
    this.#aboveLowMark = false
    this.events.onDrain()
  }

  #gone(text: string): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#waiting = []
    this.#unread = []
    this.#bufferedBytes = 0
    this.events.onClose(text)
    this.onGone()
    this.#modules.onGone(this)
  }
}

function sizeOf(item: Item): number {
  return item === fin ? 0 : item.length
}
