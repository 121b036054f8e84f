import type { LossCounts } from '../core/loss.ts'
import type { LoadPlan, Share } from '../core/plan.ts'
import type { SequenceCounts } from '../core/sequence.ts'
import type { GeneratorFigures } from '../core/verdict.ts'
import type { UserPlace } from '../users/user.ts'

/** When a run sends and measures, in Unix milliseconds by the driver's clock. */
export interface LoadWindow {
  readonly startMs: number
  /** Delays of what was sent before do not count. */
  readonly measureFromMs: number
  readonly endMs: number
}

/** How a generator is doing, since the sample before. */
export interface LoadSample {
  readonly published: number
  readonly received: number
  /** An encoded `DelayHistogram`. */
  readonly delays: string
  readonly cpuShare: number
}

/** What a generator measured. Plain data: workers send it as JSON. */
export interface LoadResult extends SequenceCounts, LossCounts, GeneratorFigures {
  /** By stream part. */
  readonly published: readonly number[]
  /** Messages that are being published; until they are, they count as unsent. */
  readonly pending: number
  /** Encoded `DelayHistogram`s: of messages, of joining, and of the generator's own sending. */
  readonly delays: string
  readonly joins: string
  readonly lateness: string
  /** Messages that arrived in the time that is measured. */
  readonly inWindow: number
  /** What went wrong, each with how often; bounded. */
  readonly errors: Readonly<Record<string, number>>
  /** What its kind of user leaves out. */
  readonly leavesOut: string
}

/** A process that has some of the users of a run. All calls but `stop` are made once, in this order, but for `missing` and `sample`. */
export interface Generator {
  readonly name: string
  /** Opens its users, at the plan's rate, and resolves when all take part. */
  open(plan: LoadPlan, place: UserPlace, share: Share, signal: AbortSignal): Promise<void>
  /** Has publishers say who they are, where what they will send does not wait for that. */
  introduce(): Promise<void>
  /** Which users have not joined, and what the others lack of a settled overlay, and of introductions; empty when they lack nothing. */
  missing(): Promise<readonly string[]>
  /** Sends; resolves when the last message was handed over. */
  run(window: LoadWindow, signal: AbortSignal): Promise<void>
  sample(): Promise<LoadSample>
  result(): Promise<LoadResult>
  /** Closes the users, in `closeBoundMs`. Resolves to what did not close, for people; empty where all did. Idempotent. */
  stop(): Promise<readonly string[]>
}
