import { dropOldest, type MessageRef } from '@runnel/protocol'
import type { Asked } from './asked.ts'

export interface UnsureBatchesLimits {
  readonly maxUnsureBatches: number
  readonly minPushWaitMs: number
  readonly maxPushWaitMs: number
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

/** Used until it is known how late the neighbour usually is. */
const unknownLatenessMs = 250
/** A batch that was sent is remembered for this long: the answer shows how late the neighbour was. */
export const pushedMs = 2_000

const keyOf = ({ alias }: Asked, { timestamp, sequenceNumber }: MessageRef): string =>
  `${alias} ${timestamp}.${sequenceNumber}`

/** What one neighbour, for which this node is standby, was told of and has not said that it has. */
export class UnsureBatches {
  readonly #limits: UnsureBatchesLimits
  readonly #batches = new Map<string, UnsureBatch>()
  /** A lower bound. */
  #dueMs = Infinity

  constructor(limits: UnsureBatchesLimits) {
    this.#limits = limits
  }

  get dueMs(): number {
    return this.#dueMs
  }

  /** The neighbour may lack this batch. False when another one was forgotten for it. */
  add(asked: Asked, place: MessageRef, nowMs: number): boolean {
    const { minPushWaitMs, maxPushWaitMs, maxUnsureBatches } = this.#limits
    const waitMs = asked.lateness.boundMs ?? unknownLatenessMs
    const dueMs = nowMs + Math.ceil(Math.min(maxPushWaitMs, Math.max(minPushWaitMs, waitMs)))
    const batch = { asked, place, sinceMs: nowMs, dueMs, isPushed: false, isHurried: false }
    this.#batches.set(keyOf(asked, place), batch)
    this.#isDue(dueMs)
    if (this.#batches.size <= maxUnsureBatches) return true
    dropOldest(this.#batches, maxUnsureBatches)
    return false
  }

  /** The neighbour has it. `isMeasured`: it says so, and has it from somebody else. */
  has(asked: Asked, place: MessageRef, nowMs: number, isMeasured: boolean): void {
    const key = keyOf(asked, place)
    const batch = this.#batches.get(key)
    if (batch === undefined) return
    if (isMeasured) asked.lateness.add(nowMs - batch.sinceMs)
    this.#batches.delete(key)
  }

  /** The neighbour wants copies again: what it may lack of the chain is due now. */
  hurry(asked: Asked, nowMs: number): void {
    for (const batch of this.#batches.values()) {
      if (batch.asked !== asked || batch.isPushed) continue
      batch.dueMs = Math.min(batch.dueMs, nowMs)
      batch.isHurried = true
    }
    this.#isDue(nowMs)
  }

  /** What is to be sent now. */
  take(nowMs: number): readonly UnsureBatch[] {
    if (this.#dueMs > nowMs) return []
    const due: UnsureBatch[] = []
    this.#dueMs = Infinity
    for (const [key, batch] of this.#batches) {
      if (batch.dueMs <= nowMs) {
        if (batch.isPushed) {
          this.#batches.delete(key)
          continue
        }
        batch.isPushed = true
        batch.dueMs = nowMs + pushedMs
        due.push(batch)
      }
      this.#isDue(batch.dueMs)
    }
    return due
  }

  /** It could not be sent now: tried again a little later. */
  postpone(batch: UnsureBatch, nowMs: number): void {
    if (nowMs - batch.sinceMs > pushedMs) return
    batch.isPushed = false
    batch.dueMs = nowMs + this.#limits.minPushWaitMs
    this.#isDue(batch.dueMs)
  }

  forget(asked: Asked): void {
    for (const [key, batch] of this.#batches) if (batch.asked === asked) this.#batches.delete(key)
  }

  #isDue(dueMs: number): void {
    this.#dueMs = Math.min(this.#dueMs, dueMs)
  }
}
