import { RareMap, RareSet, TokenBucket, type NodeId, type StreamPartId } from '@runnel/protocol'

export interface StatusTurnsLimits {
  readonly statusesPerS: number
  readonly statusBurst: number
}

/** Of a stream part with something to report: who is to be told, and whether a tracker has to act on it. */
export interface Turn {
  readonly trackerId: NodeId
  readonly isUrgent: boolean
}

/** How much a tracker may be told: one that is told more takes this node for one that floods it. */
interface Pace {
  readonly bucket: TokenBucket
  /** Stream parts that wait for their turn. */
  readonly waiting: RareSet<StreamPartId>
  untilMs: number
}

/** Statuses that wait for their turn go so many at a time, so that the node does not wake up for each. */
const statusesTogether = 16
/** Urgent statuses that go before one that is not. */
const urgentInARow = 3

/** Which stream parts have something to report, and in which order their trackers are told, each as fast as it takes statuses. */
export class StatusTurns {
  readonly #limits: StatusTurnsLimits
  /** Stream parts with something to report that do not wait for their turn. */
  readonly #ready = new RareSet<StreamPartId>()
  readonly #paces = new RareMap<NodeId, Pace>()

  constructor(limits: StatusTurnsLimits) {
    this.#limits = limits
  }

  /** When `release` is due. */
  get dueMs(): number {
    let dueMs = Infinity
    for (const { waiting, untilMs } of this.#paces.values())
      if (waiting.size > 0) dueMs = Math.min(dueMs, untilMs)
    return dueMs
  }

  /** Whether `next` has anything. */
  get hasNews(): boolean {
    return this.#ready.size > 0
  }

  add(streamPartId: StreamPartId): void {
    this.#ready.add(streamPartId)
  }

  delete(streamPartId: StreamPartId): void {
    this.#ready.delete(streamPartId)
    for (const { waiting } of this.#paces.values()) waiting.delete(streamPartId)
  }

  /** A tracker is told no more. */
  forget(trackerId: NodeId): void {
    this.#paces.delete(trackerId)
  }

  /** Stream parts whose tracker takes statuses again wait no longer. */
  release(nowMs: number): void {
    for (const { waiting, untilMs } of this.#paces.values()) {
      if (untilMs > nowMs) continue
      for (const streamPartId of waiting) this.#ready.add(streamPartId)
      waiting.clear()
    }
  }

  /**
   * The stream parts that are reported now, urgent ones first, and those that have to wait. `turnOf` is undefined for those that have nobody to
   * tell, and are taken out.
   */
  *next(
    nowMs: number,
    turnOf: (streamPartId: StreamPartId) => Turn | undefined,
  ): Iterable<{ readonly streamPartId: StreamPartId; readonly mayTell: boolean }> {
    this.release(nowMs)
    for (const { streamPartId, trackerId } of this.#inOrder(turnOf)) {
      // What was reported before may have ended this one.
      if (!this.#ready.delete(streamPartId) || trackerId === undefined) continue
      yield { streamPartId, mayTell: this.#mayTell(trackerId, streamPartId, nowMs) }
    }
  }

  /** After so many urgent ones comes another, so that these never wait for good. */
  #inOrder(turnOf: (streamPartId: StreamPartId) => Turn | undefined) {
    let urgent = 0
    let others = 0
    return [...this.#ready]
      .map((streamPartId) => {
        const turn = turnOf(streamPartId)
        const place = turn?.isUrgent === true ? urgent++ : ++others * urgentInARow - 0.5
        return { streamPartId, trackerId: turn?.trackerId, place }
      })
      .sort((a, b) => a.place - b.place)
  }

  #mayTell(trackerId: NodeId, streamPartId: StreamPartId, nowMs: number): boolean {
    const pace = this.#paceOf(trackerId, nowMs)
    if (pace.waiting.size === 0 && pace.bucket.take(nowMs)) return true
    if (pace.waiting.size === 0) pace.untilMs = nowMs + Math.ceil(pace.bucket.waitMs(nowMs, statusesTogether))
    pace.waiting.add(streamPartId)
    return false
  }

  #paceOf(trackerId: NodeId, nowMs: number): Pace {
    const known = this.#paces.get(trackerId)
    if (known !== undefined) return known
    const { statusesPerS: perSecond, statusBurst: burst } = this.#limits
    const bucket = new TokenBucket({ perSecond, burst }, nowMs)
    const pace: Pace = { bucket, waiting: new RareSet(), untilMs: -Infinity }
    this.#paces.set(trackerId, pace)
    return pace
  }
}
