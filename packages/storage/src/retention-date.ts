import type { Clock } from '@runnel/protocol'
import type { StorageLimits } from './storage-limits.ts'
import type { MessageStore } from './store/message-store.ts'

/** What is noted with each look, as dates of the wall clock and milliseconds. */
interface DateMark {
  readonly dateMs: number
  /** How long the clock has been ahead of that by now, or behind it. */
  readonly aheadForMs: number
  readonly behindForMs: number
}

export interface RetentionDateOptions {
  /** Whose clock it is: nodes may share a store. */
  readonly nodeId: string
  readonly limits: Pick<StorageLimits, 'maxClockLeadMs' | 'clockBelievedAfterMs'>
}

export interface RetentionDateModules {
  readonly store: Pick<MessageStore, 'getMark' | 'setMark' | 'usage'>
  readonly clock: Pick<Clock, 'now' | 'monotonicMs'>
  /** The clock went ahead, by so much, and is not believed yet. */
  readonly onAhead: (leadMs: number) => void
}

/**
 * The date by which stored messages age. It is the wall clock's, unless that is ahead of the last date by much more time than has passed: then it
 * goes on with the time that passes, until the clock has said so for long enough. So a clock that goes wrong for some hours deletes nothing; after
 * a node was off, messages are deleted a day later. A clock that is behind deletes nothing too early, and is not noted before it has said so for as
 * long: some machines have none that runs while they are off, and begin in the past each time.
 */
export class RetentionDate {
  readonly #options: RetentionDateOptions
  readonly #modules: RetentionDateModules
  /** At `#atMs` of the monotonic clock; until it is read nothing is old. */
  #dateMs = 0
  #atMs = 0
  #aheadForMs = 0
  #behindForMs = 0

  constructor(options: RetentionDateOptions, modules: RetentionDateModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Goes on from where the process before this one was; else from the newest message, if there is one. Throws what the store throws. */
  async begin(): Promise<void> {
    const { store, clock } = this.#modules
    const text = await store.getMark(this.#mark)
    const mark = text === undefined ? undefined : (JSON.parse(text) as DateMark)
    const newestMs = (await store.usage()).reduce((newest, part) => Math.max(newest, part.newestMs), 0)
    this.#dateMs = mark?.dateMs ?? (newestMs || clock.now())
    this.#aheadForMs = mark?.aheadForMs ?? 0
    this.#behindForMs = mark?.behindForMs ?? 0
    this.#atMs = clock.monotonicMs()
  }

  /** In Unix milliseconds. */
  nowMs(): number {
    const wallMs = this.#modules.clock.now()
    return this.#isOff(wallMs) ? Math.min(wallMs, this.#passedMs()) : wallMs
  }

  /** Looks at the clock, and notes what it says. To be called every minute or so. Throws what the store throws. */
  async look(): Promise<void> {
    const { store, clock, onAhead } = this.#modules
    const wallMs = clock.now()
    const monotonicMs = clock.monotonicMs()
    const passedMs = this.#passedMs()
    const lookedForMs = Math.max(1, monotonicMs - this.#atMs)
    const isOff = this.#isOff(wallMs)
    if (!isOff) this.#aheadForMs = this.#behindForMs = 0
    else if (wallMs < passedMs) this.#behindForMs += lookedForMs
    else {
      if (this.#aheadForMs === 0) onAhead(wallMs - passedMs)
      this.#aheadForMs += lookedForMs
    }
    const offForMs = Math.max(this.#aheadForMs, this.#behindForMs)
    const isBelieved = !isOff || offForMs >= this.#options.limits.clockBelievedAfterMs
    this.#dateMs = isBelieved ? wallMs : passedMs
    this.#atMs = monotonicMs
    const mark: DateMark = {
      dateMs: Math.floor(this.#dateMs),
      aheadForMs: Math.floor(this.#aheadForMs),
      behindForMs: Math.floor(this.#behindForMs),
    }
    await store.setMark(this.#mark, JSON.stringify(mark))
  }

  /** The last date, and the time that has passed since. */
  #passedMs(): number {
    return this.#dateMs + this.#modules.clock.monotonicMs() - this.#atMs
  }

  #isOff(wallMs: number): boolean {
    return Math.abs(wallMs - this.#passedMs()) > this.#options.limits.maxClockLeadMs
  }

  get #mark(): string {
    return `${this.#options.nodeId} date`
  }
}
