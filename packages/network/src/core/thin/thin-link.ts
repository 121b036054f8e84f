import type { DigestEntry, FloodMode, MessageChain, MessageRef } from '@runnel/protocol'
import type { ChainProgress } from '../dedup/chain-progress.ts'
import type { StreamPart } from '../stream-part/stream-part.ts'
import { Lateness } from './lateness.ts'

export interface ThinLinkLimits {
  readonly maxThinAsks: number
  readonly maxUnsureBatches: number
  readonly digestIntervalMs: number
  readonly minPushWaitMs: number
  readonly maxPushWaitMs: number
}

/** What a neighbour asked for, of one chain. */
export interface Asked {
  readonly part: StreamPart
  readonly progress: ChainProgress
  /** The neighbour's. */
  readonly alias: number
  mode: FloodMode
  untilMs: number
  /** How long after a batch is here the neighbour says that it has it. */
  readonly lateness: Lateness
}

/** A batch that the neighbour, for which this node is standby, may not have. */
export interface UnsureBatch {
  readonly asked: Asked
  readonly place: MessageRef
  readonly sinceMs: number
  /** When it is sent. */
  dueMs: number
  isPushed: boolean
  /** The neighbour has asked for what it lacks. */
  isHurried: boolean
}

/** Until it is known how late the neighbour usually is. */
const unknownLatenessMs = 250
/** A batch that was sent is remembered for this long: the answer shows how late the neighbour was. */
const pushedMs = 2_000

const keyOf = ({ alias }: Asked, { timestamp, sequenceNumber }: MessageRef): string =>
  `${alias} ${timestamp}.${sequenceNumber}`

/** One neighbour at whose wish less is flooded to it: what it asked for, what it is to be told, and what it may lack. */
export class ThinLink {
  /** To be told with the next digest. */
  readonly #entries: DigestEntry[] = []
  readonly #limits: ThinLinkLimits
  readonly #asked = new Map<ChainProgress, Asked>()
  readonly #byAlias = new Map<number, Asked>()
  readonly #unsure = new Map<string, UnsureBatch>()
  #toldMs = -Infinity
  #tellMs = Infinity
  /** A lower bound. */
  #unsureDueMs = Infinity

  constructor(limits: ThinLinkLimits) {
    this.#limits = limits
  }

  get isEmpty(): boolean {
    return this.#asked.size === 0 && this.#entries.length === 0
  }

  get tellMs(): number {
    return this.#tellMs
  }

  get dueMs(): number {
    return Math.min(this.#tellMs, this.#unsureDueMs)
  }

  /** False when the neighbour asked too much. */
  ask(asked: Omit<Asked, 'lateness'>): boolean {
    const { progress, alias, mode, untilMs } = asked
    const known = this.#asked.get(progress)
    if (known !== undefined && known.alias === alias) Object.assign(known, { mode, untilMs })
    else {
      if (known !== undefined) this.#forget(known)
      const isFull = this.#asked.size >= this.#limits.maxThinAsks
      // Of an alias that is given again, the digests would be of the other chain.
      if (isFull || this.#byAlias.has(alias)) return mode === 'eager'
      const fresh = { ...asked, lateness: new Lateness() }
      this.#asked.set(progress, fresh)
      this.#byAlias.set(alias, fresh)
    }
    return true
  }

  /** What was asked for and still holds. */
  askedOf(progress: ChainProgress, nowMs: number): Asked | undefined {
    const asked = this.#asked.get(progress)
    return asked !== undefined && asked.mode !== 'eager' && asked.untilMs > nowMs ? asked : undefined
  }

  /** What the neighbour calls a chain for now. */
  aliasOf(progress: ChainProgress, nowMs: number): number | undefined {
    const asked = this.#asked.get(progress)
    return asked !== undefined && asked.untilMs > nowMs ? asked.alias : undefined
  }

  byAlias(alias: number): Asked | undefined {
    return this.#byAlias.get(alias)
  }

  /** Adds to the next digest. */
  tell(entry: DigestEntry, nowMs: number): void {
    this.#entries.push(entry)
    this.#tellMs = Math.min(this.#tellMs, Math.max(nowMs + 1, this.#toldMs + this.#limits.digestIntervalMs))
  }

  /** What the next digest tells, the oldest first. */
  takeEntries(nowMs: number, max: number): readonly DigestEntry[] {
    if (this.#entries.length === 0) return []
    this.#toldMs = nowMs
    const entries = this.#entries.splice(0, max)
    this.#tellMs = this.#entries.length > 0 ? nowMs + 1 : Infinity
    return entries
  }

  /** The neighbour may lack this batch. False when another one was forgotten for it. */
  unsure(asked: Asked, place: MessageRef, nowMs: number): boolean {
    const { minPushWaitMs, maxPushWaitMs, maxUnsureBatches } = this.#limits
    const waitMs = asked.lateness.boundMs ?? unknownLatenessMs
    const dueMs = nowMs + Math.ceil(Math.min(maxPushWaitMs, Math.max(minPushWaitMs, waitMs)))
    this.#unsure.set(keyOf(asked, place), {
      asked,
      place,
      sinceMs: nowMs,
      dueMs,
      isPushed: false,
      isHurried: false,
    })
    this.#unsureDueMs = Math.min(this.#unsureDueMs, dueMs)
    if (this.#unsure.size <= maxUnsureBatches) return true
    for (const oldest of this.#unsure.keys()) {
      this.#unsure.delete(oldest)
      break
    }
    return false
  }

  /** The neighbour has it. `isMeasured`: it says so, and has it from somebody else. */
  has(progress: ChainProgress, place: MessageRef, nowMs: number, isMeasured: boolean): void {
    const asked = this.#asked.get(progress)
    if (asked === undefined) return
    const key = keyOf(asked, place)
    const batch = this.#unsure.get(key)
    if (batch === undefined) return
    if (isMeasured) asked.lateness.add(nowMs - batch.sinceMs)
    this.#unsure.delete(key)
  }

  /** The neighbour wants copies again: what it may lack of the chain is due now. */
  hurry(asked: Asked, nowMs: number): void {
    for (const batch of this.#unsure.values()) {
      if (batch.asked !== asked || batch.isPushed) continue
      batch.dueMs = Math.min(batch.dueMs, nowMs)
      batch.isHurried = true
    }
    this.#unsureDueMs = Math.min(this.#unsureDueMs, nowMs)
  }

  /** What is to be sent now. */
  takeUnsure(nowMs: number): readonly UnsureBatch[] {
    if (this.#unsureDueMs > nowMs) return []
    const due: UnsureBatch[] = []
    this.#unsureDueMs = Infinity
    for (const [key, batch] of this.#unsure) {
      if (batch.dueMs <= nowMs) {
        if (batch.isPushed) {
          this.#unsure.delete(key)
          continue
        }
        batch.isPushed = true
        batch.dueMs = nowMs + pushedMs
        due.push(batch)
      }
      this.#unsureDueMs = Math.min(this.#unsureDueMs, batch.dueMs)
    }
    return due
  }

  /** It could not be sent now: tried again a little later. */
  postpone(batch: UnsureBatch, nowMs: number): void {
    if (nowMs - batch.sinceMs > pushedMs) return
    batch.isPushed = false
    batch.dueMs = nowMs + this.#limits.digestIntervalMs
    this.#unsureDueMs = Math.min(this.#unsureDueMs, batch.dueMs)
  }

  /** Forgets what has ended, or what `isGone` is true of. */
  sweep(nowMs: number, isGone: (asked: Asked) => boolean): void {
    for (const asked of [...this.#asked.values()])
      if (asked.untilMs + pushedMs <= nowMs || isGone(asked)) this.#forget(asked)
  }

  #forget(asked: Asked): void {
    this.#asked.delete(asked.progress)
    this.#byAlias.delete(asked.alias)
    for (const [key, batch] of this.#unsure) if (batch.asked === asked) this.#unsure.delete(key)
  }
}

/** What a chain is called in packets. */
export const chainIdOf = ({ publisherId, messageChainId }: MessageChain) => ({ publisherId, messageChainId })
