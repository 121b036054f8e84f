import { Shortest } from './shortest.ts'

export interface RateLimits {
  /** The rate of a link of which nothing is known. */
  readonly firstKbitPerS: number
  readonly minKbitPerS: number
  readonly maxKbitPerS: number
}

/** A frame that came, and when: by the sender's clock, and by the receiver's, which differ by what is not known. */
export interface ArrivedFrame {
  readonly sentMs: number
  readonly arrivedMs: number
  readonly bytes: number
  /** It takes its part of the line, but its delay says nothing: it may have waited, or been sent again. */
  readonly isOther: boolean
}

/** What one report of the receiver says. */
export interface Feedback {
  readonly arrived: readonly ArrivedFrame[]
  /** Frames that did not come. */
  readonly lost: number
  readonly rttMs: number
}

/** Target wait of frames on a line: above it, as forecast over a round trip, the rate falls; below half of it, it rises. */
const targetMs = 40
/** Where delays vary from frame to frame, which those of a queue hardly do, by so many times that more may wait. */
const jitterFactor = 2
/** Longest target, when delays vary. */
const maxTargetMs = 250
/** A shorter wait may be one frame waiting for another, not a queue. */
const noiseMs = 12
/** A rate this far above the last known capacity, with nothing waiting: the capacity is another. */
const knownShare = { from: 0.9, until: 1.06 } as const
/** Growth in a second: near the last known capacity, and elsewhere. */
const growth = { near: 0.1, far: 0.5 } as const
/** Of a rate of which less is used, what is delivered is not the capacity; where something waits it only goes down by a part. */
const usedShare = 0.5
const unusedFactor = 0.85
/** Before the first queue: in a round trip and `settleMs`. */
const startFactor = 1.5
/** A queue must last this long before the rate falls: a single report may come from a busy machine. */
const queuedUntilLessMs = 40
/** A queue of ours is at most this part of what it was when the rate goes down again. */
const fallShare = 0.75
/** After so many reductions in a row that changed nothing, what waits is another's, or the machine is busy: it counts as the way from then on. */
const vainUntilOther = 3
/** Reductions this far apart, plus the time that changes take to show, are not in a row. */
const inRowMs = 500
/** A change shows in the delays after a round trip plus this long. */
const settleMs = 100
/** Span over which the gradient of the delays is taken. */
const historyMs = 500
/** Frames of it: their times are the peer's, who may say that no time passes. */
const maxHistoryFrames = 4_096
/** Span over which the delivered rate is measured. */
const deliveredMs = 300
/** Fewer say nothing of rates: where a line carries less in these spans, as many count, however old they are. */
const minFrames = 4
/** Span over which the present wait is measured. */
const tailMs = 100
/** Share of frames that may be lost before the rate falls: radio always loses some. */
const maxLossShare = 0.1
/** Losses among fewer frames say nothing. */
const minLossFrames = 80

/**
 * How much may be sent on a link, by the delays of what was sent. It goes down when a queue grows, which the delay's gradient tells before it is
 * long, to a little below what was delivered; that is the capacity as known. From there it goes up slowly near that capacity, faster elsewhere,
 * and forgets it when it is above and nothing waits. docs/decisions/061-rate-control.md compares it with GCC, NADA and SCReAM.
 */
export class RateControl {
  readonly #limits: RateLimits
  #kbitPerS: number
  #capacityKbitPerS: number | undefined
  #isStart = true
  #history: readonly ArrivedFrame[] = []
  readonly #shortestDelay = new Shortest()
  #loss = { lost: 0, frames: 0 }
  #targetMs = targetMs
  #reducedMs = -Infinity
  /** What waited then, and how many reductions before it did not make less wait. */
  #reducedQueueMs = 0
  #vain = 0
  /** Since when every report has been of a queue; Infinity when the last was not. */
  #queuedMs = Infinity
  #feedbackMs = 0
  #waitingMs = 0

  constructor(limits: RateLimits) {
    this.#limits = limits
    this.#kbitPerS = limits.firstKbitPerS
  }

  get kbitPerS(): number {
    return this.#kbitPerS
  }

  /** Whether it is as much as the link carries; else that is not known, and may be far more. */
  get isLimited(): boolean {
    return !this.#isStart
  }

  /** How long frames waited on the line, by the last report. */
  get waitingMs(): number {
    return this.#waitingMs
  }

  feedback({ arrived, lost, rttMs }: Feedback, nowMs: number): void {
    this.#loss = { lost: this.#loss.lost + lost, frames: this.#loss.frames + lost + arrived.length }
    if (arrived.length === 0) return
    this.#note(arrived, nowMs)
    const elapsedMs = Math.min(300, nowMs - this.#feedbackMs)
    this.#feedbackMs = nowMs
    const queueMs = this.#queueMs()
    if (queueMs === undefined) return
    this.#waitingMs = Math.max(0, queueMs)
    this.#targetMs = Math.min(maxTargetMs, targetMs + jitterFactor * this.#jitterMs())
    const foreseenMs = queueMs + Math.max(0, this.#gradient()) * (rttMs + settleMs / 2)
    const isQueue = queueMs > noiseMs && foreseenMs > this.#targetMs
    this.#queuedMs = isQueue ? Math.min(this.#queuedMs, nowMs) : Infinity
    if (nowMs - this.#reducedMs <= rttMs + settleMs) return
    if (nowMs - this.#queuedMs >= queuedUntilLessMs) this.#overused(queueMs, rttMs, nowMs)
    else if (this.#lossShare > maxLossShare) this.#reduce(1 - this.#lossShare / 2, nowMs)
    else if (queueMs < this.#targetMs / 2) this.#grow(queueMs, elapsedMs, rttMs)
  }

  /** Frames are under way, and nothing was heard for long. */
  starved(nowMs: number): void {
    this.#set(this.#kbitPerS / 2)
    this.#reducedMs = nowMs
  }

  #note(arrived: readonly ArrivedFrame[], nowMs: number): void {
    const newestMs = Math.max(...arrived.map(({ arrivedMs }) => arrivedMs))
    const history = [...this.#history, ...arrived]
    this.#history = lastOf(history, newestMs - historyMs).slice(-maxHistoryFrames)
    this.#shortestDelay.add(Math.min(...arrived.filter(isUrgent).map(delayOf)), nowMs)
  }

  /** How long frames wait at present: the shortest of the last, as a burst waits for itself. Undefined where none came. */
  #queueMs(): number | undefined {
    const newestMs = Math.max(...this.#history.map(({ arrivedMs }) => arrivedMs))
    const tail = this.#history.filter((frame) => isUrgent(frame) && frame.arrivedMs > newestMs - tailMs)
    if (tail.length === 0) return undefined
    return Math.min(...tail.map(delayOf)) - (this.#shortestDelay.value ?? Infinity)
  }

  /** By how much the delays of frames that follow each other differ, on average. */
  #jitterMs(): number {
    const delays = this.#history.filter(isUrgent).map(delayOf)
    const changes = delays.slice(1).map((delayMs, i) => Math.abs(delayMs - (delays[i] ?? delayMs)))
    return changes.reduce((sum, change) => sum + change, 0) / Math.max(1, changes.length)
  }

  /** By how many ms the delay grows in a ms: the slope of the line with the least squares. */
  #gradient(): number {
    const frames = this.#history.filter(isUrgent)
    const count = frames.length
    if (count < 6) return 0
    const meanAtMs = frames.reduce((sum, { arrivedMs }) => sum + arrivedMs, 0) / count
    const meanDelayMs = frames.reduce((sum, frame) => sum + delayOf(frame), 0) / count
    let [above, below] = [0, 0]
    for (const frame of frames) {
      const atMs = frame.arrivedMs - meanAtMs
      above += atMs * (delayOf(frame) - meanDelayMs)
      below += atMs * atMs
    }
    return below === 0 ? 0 : above / below
  }

  get #deliveredKbitPerS(): number {
    return this.#kbitPerSBy(({ arrivedMs }) => arrivedMs)
  }

  /** At which what came of late was sent. */
  get #sentKbitPerS(): number {
    return this.#kbitPerSBy(({ sentMs }) => sentMs)
  }

  #kbitPerSBy(atMs: (frame: ArrivedFrame) => number): number {
    const newestMs = Math.max(...this.#history.map(({ arrivedMs }) => arrivedMs))
    const recent = lastOf(this.#history, newestMs - deliveredMs)
    const times = recent.map(atMs)
    const spanMs = Math.max(settleMs, Math.max(...times) - Math.min(...times))
    const bytes = recent.slice(1).reduce((sum, frame) => sum + frame.bytes, 0)
    return (bytes * 8) / spanMs
  }

  get #lossShare(): number {
    return this.#loss.frames < minLossFrames ? 0 : this.#loss.lost / this.#loss.frames
  }

  #overused(queueMs: number, rttMs: number, nowMs: number): void {
    const isInRow = nowMs - this.#reducedMs < 2 * (rttMs + settleMs) + inRowMs
    this.#vain = isInRow && queueMs > fallShare * this.#reducedQueueMs ? this.#vain + 1 : 0
    this.#reducedQueueMs = queueMs
    if (this.#vain < vainUntilOther)
      return this.#reduce(Math.min(0.93, Math.max(0.6, 1 - queueMs / (10 * this.#targetMs))), nowMs)
    this.#shortestDelay.restart(queueMs + (this.#shortestDelay.value ?? Infinity), nowMs)
    this.#vain = 0
    this.#queuedMs = Infinity
  }

  #reduce(factor: number, nowMs: number): void {
    const delivered = this.#deliveredKbitPerS
    const sent = this.#sentKbitPerS / (1 - this.#lossShare)
    this.#reducedMs = nowMs
    this.#loss = { lost: 0, frames: 0 }
    // What waits is another's then, or was sent before.
    if (sent < usedShare * this.#kbitPerS)
      return this.#set(Math.max(factor * delivered, unusedFactor * this.#kbitPerS))
    const known = this.#capacityKbitPerS
    const isNear = known !== undefined && delivered > 0.85 * known && delivered < 1.1 * known
    this.#capacityKbitPerS = isNear ? 0.7 * known + 0.3 * delivered : delivered
    this.#set(Math.min(this.#kbitPerS, factor * delivered))
    this.#isStart = false
  }

  #grow(queueMs: number, elapsedMs: number, rttMs: number): void {
    const known = this.#capacityKbitPerS
    if (known !== undefined && this.#kbitPerS > knownShare.until * known && queueMs < noiseMs)
      this.#capacityKbitPerS = undefined
    if (this.#loss.frames > 4 * minLossFrames) this.#loss = { lost: 0, frames: 0 }
    const grown = this.#kbitPerS * this.#growthIn(elapsedMs, rttMs, queueMs)
    // What is not used says nothing about what there is.
    const most = (this.#isStart ? 2.5 : 1.5) * this.#deliveredKbitPerS
    if (grown <= most) this.#set(grown)
  }

  #growthIn(elapsedMs: number, rttMs: number, queueMs: number): number {
    const known = this.#capacityKbitPerS
    const share = 1 - queueMs / this.#targetMs
    if (this.#isStart) return startFactor ** ((share * elapsedMs) / (rttMs + settleMs))
    const isNear = known !== undefined && this.#kbitPerS > knownShare.from * known
    return 1 + (isNear ? growth.near : growth.far) * share * (elapsedMs / 1000)
  }

  #set(kbitPerS: number): void {
    const { minKbitPerS, maxKbitPerS } = this.#limits
    this.#kbitPerS = Math.min(maxKbitPerS, Math.max(minKbitPerS, kbitPerS))
  }
}

const isUrgent = ({ isOther }: ArrivedFrame): boolean => !isOther
/** Those that arrived after this, and at least the last few. */
const lastOf = (frames: readonly ArrivedFrame[], sinceMs: number): readonly ArrivedFrame[] =>
  frames.filter(({ arrivedMs }, i) => arrivedMs > sinceMs || frames.length - i <= minFrames)
const delayOf = ({ sentMs, arrivedMs }: ArrivedFrame): number => arrivedMs - sentMs
