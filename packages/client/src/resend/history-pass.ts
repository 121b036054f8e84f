import type { NodeId, StreamMessage } from '@runnel/protocol'
import { throwIfAborted } from '../deadline.ts'
import type { BatchCheck } from './batch-check.ts'
import { BatchVerdicts, type VerdictEvents } from './batch-verdicts.ts'
import { HistoryGaps, type GapEvents } from './history-gaps.ts'
import { BatchMerge } from './merge.ts'
import { OpenSources } from './open-sources.ts'
import type { PartEvents, PartPlan } from './part-sources.ts'
import type { History } from './selection.ts'
import type { SignaturesAhead } from './signatures-ahead.ts'
import type { SourceModules } from './storage-source.ts'
import type { WantedRange } from './wanted-range.ts'

/** What to read, and which storage nodes to read from. */
export interface HistoryPlan extends Omit<History, 'partitions'> {
  readonly parts: readonly PartPlan[]
}

interface HistoryEvents extends PartEvents, GapEvents, VerdictEvents {
  /** So many messages were given. */
  given(count: number): void
}

export interface HistoryModules extends SourceModules {
  readonly check: BatchCheck
  /** Of batches that wait for their turn; undefined where each is checked in its turn. */
  readonly signatures: SignaturesAhead | undefined
  readonly events: HistoryEvents
}

/** Messages of one run, unless the last one filled a gap. */
const maxRun = 256
/** Bytes of their content, unless a single one has more. */
const maxRunBytes = 32 * 1024

/** One reading of storage nodes from the beginning to the end. Several of a stream part are read side by side. */
export class HistoryPass {
  readonly wanted: WantedRange
  readonly #sources: OpenSources
  readonly #merge: BatchMerge
  readonly #verdicts: BatchVerdicts
  readonly #gaps: HistoryGaps
  /** Those that are on their way out. */
  #run: StreamMessage[] = []
  #runBytes = 0
  /** Messages of the next run. The first is given as soon as it is checked; runs grow as more are given. */
  #runLength = 1

  constructor(wanted: WantedRange, given: HistoryModules) {
    this.wanted = wanted
    this.#merge = new BatchMerge(given.limits)
    const modules = { ...given, wanted, merge: this.#merge }
    this.#sources = new OpenSources(modules)
    this.#verdicts = new BatchVerdicts({ ...modules, sources: this.#sources })
    this.#gaps = new HistoryGaps({ ...modules, sources: this.#sources })
  }

  /** Storage nodes that were given up. */
  get failed(): readonly NodeId[] {
    return this.#sources.failed
  }

  /** Rejects with RESEND_FAILED or RESEND_DENIED when all of a stream part fail. */
  start({ parts, publisherId, messageChainId }: HistoryPlan): Promise<void> {
    return this.#sources.start(parts, { publisherId, messageChainId })
  }

  /** Messages in runs, each what is available at once: verified, in order, each once. Throws the failure, or ABORTED. */
  async *runs(signal: AbortSignal): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    try {
      for (;;) {
        throwIfAborted(signal)
        const behind = this.#merge.behind()
        const isDue = this.#isRunFull() || !this.#sources.areReady(behind)
        if (this.#run.length > 0 && isDue) yield this.#endRun()
        if (behind.length > 0) await this.#sources.advance(behind)
        else if (!(await this.#take())) {
          if (this.#run.length > 0) yield this.#endRun()
          if (!(await this.#sources.askSpared())) return
        }
      }
    } catch (error) {
      // Messages taken before it happened were valid.
      if (this.#run.length > 0) yield this.#endRun()
      throw error
    }
  }

  cancel(): void {
    this.#sources.cancel()
  }

  /** Takes messages as long as no source need be read on; false when there are none. */
  async #take(): Promise<boolean> {
    do {
      const candidate = this.#merge.next()
      await this.#verdicts.reportContradictions()
      if (candidate === undefined) return false
      if (candidate.from.verdict !== 'good' && !(await this.#verdicts.admits(candidate))) return true
      if (this.#gaps.isBefore(candidate)) this.#run.push(...(await this.#gaps.fillBefore(candidate)))
      this.#merge.take()
      this.#sources.taken(candidate.from.source)
      this.#run.push(candidate.message)
      this.#runBytes += candidate.message.content.length
    } while (!this.#isRunFull() && this.#merge.behind().length === 0)
    return true
  }

  #isRunFull(): boolean {
    return this.#run.length >= this.#runLength || this.#runBytes >= maxRunBytes
  }

  #endRun(): readonly StreamMessage[] {
    const run = this.#run
    this.#run = []
    this.#runBytes = 0
    this.#runLength = Math.min(maxRun, this.#runLength * 2)
    return run
  }
}
