import type { StreamMessage } from '@runnel/protocol'
import { keyOfChain } from '../subscribe/chain-heads.ts'
import type { OpeningBudget } from './opening-budget.ts'

export interface OpeningEvents {
  /** `sealed` is the message as it came. */
  opened(message: StreamMessage, sealed: StreamMessage): void
  failed(message: StreamMessage, error: unknown): void
}

/** Messages of a subscription that are being opened, or are open and wait for an earlier one in their chain. */
const maxOpening = 64
/** Messages of one chain among them, so that a slow chain leaves room for others. */
const maxOpeningOfChain = 4

interface Held {
  /** Ascending, in the order in which they came. */
  readonly number: number
  readonly message: StreamMessage
  readonly lane: Lane
  /** The result: the content before it was sealed, or an error. */
  result: { readonly opened: StreamMessage } | { readonly error: unknown } | undefined
}

/** A chain with messages that wait, in order. */
interface Lane {
  readonly key: string
  readonly held: Held[]
  /** How many of them, counted from the first, are open or being opened. */
  begun: number
}

/**
 * Opens messages, several at a time, and gives each chain's on in the order in which they came. What needs no time to be
 * opened is given on at once, unless one of its chain waits. Above the budget, which other lanes may share, the oldest go.
 */
export class OpeningLanes {
  readonly #budget: OpeningBudget
  readonly #open: (message: StreamMessage) => StreamMessage | Promise<StreamMessage>
  readonly #events: OpeningEvents
  readonly #lanes = new Map<string, Lane>()
  /** In the order in which they came. */
  readonly #held = new Set<Held>()
  /** Lanes in which one more may begin, each in its turn. */
  readonly #ready = new Set<Lane>()
  #lastNumber = 0
  /** Messages in all lanes, including those dropped while they were being opened. */
  #begun = 0
  #waiters: { readonly isMet: () => boolean; readonly resolve: () => void }[] = []

  constructor(
    budget: OpeningBudget,
    modules: {
      readonly open: (message: StreamMessage) => StreamMessage | Promise<StreamMessage>
      readonly events: OpeningEvents
    },
  ) {
    this.#budget = budget
    this.#open = modules.open
    this.#events = modules.events
  }

  /** Nothing waits. */
  get isEmpty(): boolean {
    return this.#held.size === 0
  }

  /** Takes a message. Returns how many old ones had to go. */
  push(message: StreamMessage): number {
    const lane = this.isEmpty ? undefined : this.#lanes.get(keyOfChain(message))
    if (lane !== undefined || this.#begun >= maxOpening) this.#hold(message, lane)
    else {
      let opened
      try {
        opened = this.#open(message)
      } catch (error) {
        this.#events.failed(message, error)
        return 0
      }
      if (!(opened instanceof Promise)) {
        this.#events.opened(opened, message)
        return 0
      }
      this.#follow(this.#hold(message, undefined), opened)
    }
    this.#beginMore()
    return this.#dropOldest()
  }

  /** Resolves when all that was pushed so far has been given on. */
  settled(): Promise<void> {
    const last = this.#lastNumber
    const isMet = () => {
      const [oldest] = this.#held
      return oldest === undefined || oldest.number > last
    }
    if (isMet()) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ isMet, resolve }))
  }

  #hold(message: StreamMessage, known: Lane | undefined): Held {
    const lane = known ?? { key: keyOfChain(message), held: [], begun: 0 }
    if (known === undefined) this.#lanes.set(lane.key, lane)
    const held: Held = { number: ++this.#lastNumber, message, lane, result: undefined }
    lane.held.push(held)
    this.#held.add(held)
    this.#budget.take(message.content.length)
    this.#noteReady(lane)
    return held
  }

  #noteReady(lane: Lane): void {
    if (lane.begun < Math.min(lane.held.length, maxOpeningOfChain)) this.#ready.add(lane)
    else this.#ready.delete(lane)
  }

  #beginMore(): void {
    for (const lane of this.#ready) {
      if (this.#begun >= maxOpening) return
      this.#ready.delete(lane)
      const next = lane.held[lane.begun]
      if (next !== undefined) this.#begin(next)
    }
  }

  #begin(held: Held): void {
    let opened
    try {
      opened = this.#open(held.message)
    } catch (error) {
      this.#noteBegun(held)
      this.#end(held, { error })
      return
    }
    if (opened instanceof Promise) this.#follow(held, opened)
    else {
      this.#noteBegun(held)
      this.#end(held, { opened })
    }
  }

  #follow(held: Held, opening: Promise<StreamMessage>): void {
    this.#noteBegun(held)
    const end = (result: NonNullable<Held['result']>) => {
      this.#end(held, result)
      this.#beginMore()
    }
    opening.then(
      (opened) => end({ opened }),
      (error: unknown) => end({ error }),
    )
  }

  #noteBegun({ lane }: Held): void {
    lane.begun++
    this.#begun++
    this.#noteReady(lane)
  }

  #end(held: Held, result: NonNullable<Held['result']>): void {
    held.result = result
    if (this.#held.has(held)) this.#giveOn(held.lane)
    else this.#begun--
  }

  /** Delivers the opened messages of a chain, up to the first unopened one. */
  #giveOn(lane: Lane): void {
    for (let first = lane.held[0]; first?.result !== undefined; first = lane.held[0]) {
      const { message, result } = first
      this.#remove(first)
      if ('opened' in result) this.#events.opened(result.opened, message)
      else this.#events.failed(message, result.error)
    }
    if (this.#lanes.get(lane.key) === lane) this.#noteReady(lane)
    const waiting = this.#waiters
    this.#waiters = waiting.filter(({ isMet }) => !isMet())
    for (const { isMet, resolve } of waiting) if (isMet()) resolve()
  }

  #dropOldest(): number {
    let dropped = 0
    for (const oldest of this.#held) {
      if (!this.#budget.isOver || this.#held.size === 1) break
      this.#remove(oldest)
      this.#giveOn(oldest.lane)
      dropped++
    }
    return dropped
  }

  #remove(held: Held): void {
    const { lane, message } = held
    const at = lane.held.indexOf(held)
    lane.held.splice(at, 1)
    if (at < lane.begun) lane.begun--
    if (held.result !== undefined) this.#begun--
    this.#held.delete(held)
    this.#budget.giveBack(message.content.length)
    if (lane.held.length === 0) {
      this.#lanes.delete(lane.key)
      this.#ready.delete(lane)
    }
  }
}
