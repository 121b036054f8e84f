import { membersOf, type LoadPlan } from '../core/plan.ts'
import { sumOf } from '../core/sum-of.ts'
import type { LoadResult } from './generator.ts'

type Counts = Pick<LoadResult, 'published' | 'unsent' | 'received' | 'missing'>

/** Deliveries that there should be: each message to all other users of its stream part. */
export function expectedOf(plan: LoadPlan, results: readonly Pick<Counts, 'published'>[]): number {
  if (plan.history > 0) return plan.clients * plan.history
  if (!plan.subscribes) return 0
  return plan.parts.reduce((sum, _, part) => {
    const published = results.reduce((all, result) => all + (result.published[part] ?? 0), 0)
    return sum + published * (membersOf(plan, part) - 1)
  }, 0)
}

/** What should have come, and what did not. */
export interface Shortfall {
  /** Deliveries. */
  readonly expected: number
  /** Deliveries; in a run that only publishes, messages that were not published. */
  readonly lost: number
  /** Undefined where nothing should have come: then nothing was measured. */
  readonly lossPercent: number | undefined
}

export function shortfallOf(plan: LoadPlan, results: readonly Counts[]): Shortfall {
  const sum = (of: (one: Counts) => number) => results.reduce((all, one) => all + of(one), 0)
  const published = sum((one) => sumOf(one.published))
  if (!plan.subscribes && plan.history === 0) {
    const unsent = sum((one) => sumOf(one.unsent))
    return { expected: 0, lost: unsent, lossPercent: percentOf(unsent, published) }
  }
  const received = sum((one) => one.received)
  const isKnown = published > 0 || plan.history > 0
  // Where others publish, only gaps between what came tell of more.
  const expected = isKnown ? expectedOf(plan, results) : received + sum((one) => one.missing)
  const lost = Math.max(0, expected - received)
  return { expected, lost, lossPercent: percentOf(lost, expected) }
}

function percentOf(part: number, all: number): number | undefined {
  return all === 0 ? undefined : (part / all) * 100
}
