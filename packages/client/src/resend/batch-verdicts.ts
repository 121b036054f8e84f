import type { Contradiction, MessageChain } from '@runnel/protocol'
import type { BatchCheck, Verdict } from './batch-check.ts'
import type { BatchMerge, Candidate, MergedBatch } from './merge.ts'
import type { OpenSources } from './open-sources.ts'
import type { SignaturesAhead } from './signatures-ahead.ts'

export interface VerdictEvents {
  /** A publisher signed two messages for one place: different storage nodes have different ones. */
  equivocation(contradiction: Contradiction): void
  /** Messages left out because their publisher may not publish, or may no longer and too few storage nodes have them. */
  denied(chain: MessageChain, count: number): void
}

export interface BatchVerdictsModules {
  readonly check: BatchCheck
  readonly signatures: SignaturesAhead | undefined
  readonly merge: BatchMerge
  readonly sources: OpenSources
  readonly events: VerdictEvents
}

/** Decides which merged messages are valid: each batch is checked once, when its first message is due. */
export class BatchVerdicts {
  readonly #modules: BatchVerdictsModules

  constructor(modules: BatchVerdictsModules) {
    this.#modules = modules
  }

  /** False: it does not count, and its batch is out of the merge. */
  async admits(candidate: Candidate): Promise<boolean> {
    const { from } = candidate
    if (from.verdict === 'good') return true
    const verdict = await this.#check(from)
    if (verdict === 'doubtful' && this.#isWitnessed(from)) from.verdict = 'good'
    if (from.verdict === 'good') return true
    await this.#refuse(candidate, verdict)
    return false
  }

  /** Tells of contradictions once both signatures are good. */
  async reportContradictions(): Promise<void> {
    const { merge, events } = this.#modules
    for (const { place, winner, loser } of merge.contradictions()) {
      const verdicts = [await this.#check(winner), await this.#check(loser)]
      if (verdicts.includes('forged')) continue
      merge.countEvidence()
      events.equivocation({ place, winner: winner.batch, loser: loser.batch })
    }
  }

  async #check(from: MergedBatch): Promise<Verdict> {
    const { check, signatures } = this.#modules
    from.verdict ??= await check.check(from.batch, signatures)
    return from.verdict
  }

  /** More than half of the storage nodes that are read for the stream part have the batch. */
  #isWitnessed({ batch }: MergedBatch): boolean {
    const { merge, sources } = this.#modules
    const read = sources.read(batch.chain.partition)
    const holders = merge.holders()
    return read.filter(({ id }) => holders.has(id)).length * 2 > read.length
  }

  async #refuse({ from, message }: Candidate, verdict: Verdict): Promise<void> {
    const { merge, sources, events } = this.#modules
    const isWitnessed = this.#isWitnessed(from)
    merge.discard()
    if (verdict === 'forged') {
      return sources.fail(from.source, `a message that ${message.publisherId} did not sign`)
    }
    // What others have instead may be good: a batch may begin among real ones and end when its publisher might not publish.
    if (verdict === 'denied' && isWitnessed) from.batch.messages.forEach((left) => merge.mark(left))
    events.denied(from.batch.chain, from.batch.messages.length)
  }
}
