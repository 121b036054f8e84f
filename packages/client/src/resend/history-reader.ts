import type { Gap } from '@runnel/network'
import type { NodeId, StreamMessage } from '@runnel/protocol'
import { onAbort, throwIfAborted } from '../deadline.ts'
import { HistoryPass, type HistoryModules, type HistoryPlan } from './history-pass.ts'
import { LastWindow } from './last-window.ts'
import { WantedRange } from './wanted-range.ts'

/** Reads stored messages from the storage nodes of some stream parts: verified, in order, each once. */
export class HistoryReader {
  readonly #plan: HistoryPlan
  readonly #modules: HistoryModules
  #pass: HistoryPass | undefined

  constructor(plan: HistoryPlan, modules: HistoryModules) {
    this.#plan = plan
    this.#modules = modules
  }

  /**
   * Messages in runs: each run is what is available at once. Throws RESEND_FAILED, RESEND_DENIED, ABORTED, or what the registry
   * throws. Can be iterated over once.
   */
  async *read(signal: AbortSignal): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    const letGo = () => this.#pass?.cancel()
    const forget = onAbort(signal, letGo)
    const { selection } = this.#plan
    try {
      throwIfAborted(signal)
      const isExact = selection.kind === 'last' && selection.count <= this.#modules.limits.maxExactLast
      const runs = isExact ? this.#exactLast(selection.count, signal) : (await this.#start()).runs(signal)
      for await (const run of runs) {
        this.#modules.events.given(run.length)
        yield run
      }
    } catch (error) {
      throwIfAborted(signal)
      throw error
    } finally {
      forget()
      letGo()
      this.#modules.signatures?.close()
    }
  }

  /** Exactly the last `n` messages received, and the gaps among them. */
  async *#exactLast(
    count: number,
    signal: AbortSignal,
  ): AsyncGenerator<readonly StreamMessage[], void, undefined> {
    const gaps: Gap[] = []
    const tell = (gap: Gap) => this.#modules.events.gap(gap)
    const keep = { ...this.#modules.events, gap: (gap: Gap) => void gaps.push(gap) }
    for (let failed: readonly NodeId[] | undefined; ;) {
      const pass = await this.#start(keep, failed)
      const window = new LastWindow(
        { maxMessages: count, maxBytes: this.#modules.limits.maxExactLastBytes },
        () => pass.wanted.agreedBegin,
      )
      let taken = 0
      let given = 0
      for await (const run of pass.runs(signal)) {
        taken += run.length
        const early = run.flatMap((message) => window.push(message))
        if (gaps.length > count)
          gaps.splice(0, gaps.length, ...gaps.filter((gap) => window.reaches(gap.upTo)))
        if (early.length === 0) continue
        given += early.length
        gaps.splice(0).forEach(tell)
        yield early
      }
      if (taken >= count || given > 0 || pass.wanted.leftOut === 0) {
        gaps.filter((gap) => window.reaches(gap.upTo)).forEach(tell)
        return yield window.end()
      }
      // There were fewer than announced, and other messages were left out for them: no storage node is believed about where the
      // last ones begin.
      failed = pass.failed
      pass.cancel()
      gaps.length = 0
    }
  }

  /** `failed`: storage nodes not to ask again. */
  async #start(events = this.#modules.events, failed?: readonly NodeId[]): Promise<HistoryPass> {
    const wanted = new WantedRange(this.#plan.selection, failed === undefined)
    const pass = new HistoryPass(wanted, { ...this.#modules, events })
    this.#pass = pass
    const parts = this.#plan.parts.map((part) => ({
      ...part,
      storageNodes: part.storageNodes.filter(({ nodeId }) => failed?.includes(nodeId) !== true),
    }))
    await pass.start({ ...this.#plan, parts })
    return pass
  }
}
