import type { Random } from '@runnel/protocol'
import { noEvents, type Channel, type ChannelEvents } from '../connection/channel.ts'
import type { MemoryWay } from './memory-way.ts'

/** Marks the end of everything sent, in its place in the order. */
const fin = Symbol('fin')
type Item = Uint8Array | typeof fin

const noBinding = new Uint8Array(0)
/** The largest frame that this channel accepts. */
const largestFrameBytes = 2 * 1024 * 1024

/** One end of a channel in memory. What it sends is queued here, in flight, or unread at the other end. */
export class MemoryChannel implements Channel {
  readonly kind = 'memory'
  readonly maxFrameBytes = largestFrameBytes
  readonly binding = noBinding
  events: ChannelEvents = noEvents
  /** Called after `events.onClose`; the transport's. */
  onGone: () => void = () => {}
  /** What this end sends goes this way. */
  readonly #way: MemoryWay
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

  constructor(way: MemoryWay) {
    this.#way = way
  }

  /** Connects this end with `other`. */
  join(other: MemoryChannel): void {
    this.#other = other
    other.#other = this
  }

  get remoteAddress(): string | undefined {
    return this.#way.remoteAddress
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
    const { clock, condition, latencyMs } = this.#way
    const other = this.#other
    clock.schedule(
      latencyMs,
      () => condition.online && other.#way.condition.online && other.#gone('the link broke'),
    )
    this.#state = 'closing'
    clock.endOfTurn(() => this.#gone('closed'))
  }

  #enqueue(item: Item): void {
    if (this.#waiting.length === 0 && this.#hasRoomFor(item)) return this.#travel(item)
    this.#waiting.push(item)
    this.#bufferedBytes += sizeOf(item)
    if (this.#bufferedBytes > this.#way.lowMarkBytes) this.#aboveLowMark = true
  }

  /** A frame larger than the window goes alone. */
  #hasRoomFor(item: Item): boolean {
    return this.#inWindowBytes === 0 || this.#inWindowBytes + sizeOf(item) <= this.#way.windowBytes
  }

  /** Sends what the window has room for. */
  #pump(): void {
    let taken = 0
    for (const item of this.#waiting) {
      if (!this.#hasRoomFor(item)) break
      taken++
      this.#bufferedBytes -= sizeOf(item)
      this.#travel(item)
    }
    if (taken > 0) this.#waiting.splice(0, taken)
  }

  #travel(item: Item): void {
    const { clock, condition, latencyMs, jitterMs } = this.#way
    const size = sizeOf(item)
    this.#inWindowBytes += size
    const tookMs = size / this.#way.bytesPerMs()
    this.#lineFreeAtMs = Math.max(this.#lineFreeAtMs, clock.monotonicMs()) + tookMs
    const delayMs = latencyMs + (jitterMs > 0 ? this.#chance() * jitterMs : 0)
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, this.#lineFreeAtMs + delayMs)
    const lossRate = item === fin ? 0 : this.#way.lossRate()
    const lost = !condition.online || (lossRate > 0 && this.#chance() < lossRate)
    clock.schedule(this.#lastArrivalMs - clock.monotonicMs(), () => {
      if (lost) this.#left(item)
      else this.#other.#arrived(item)
    })
  }

  #chance(): number {
    this.#random ??= this.#way.random()
    return this.#random.next()
  }

  #arrived(item: Item): void {
    if (this.#state === 'closed') return
    const { online, reading } = this.#way.condition
    if (!online) return this.#other.#left(item)
    if (!reading || this.#unread.length > 0) this.#unread.push(item)
    else this.#take(item)
  }

  /** Delivers the unread frames. */
  resumeReading(): void {
    const { condition } = this.#way
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
    if (!this.#aboveLowMark || this.#bufferedBytes > this.#way.lowMarkBytes) return
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
    this.#way.gone(this)
  }
}

function sizeOf(item: Item): number {
  return item === fin ? 0 : item.length
}
