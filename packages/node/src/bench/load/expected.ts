import { membersOf, type LoadPlan } from '../core/plan.ts'
import type { LoadResult } from './generator.ts'

/** Deliveries that there should be: each message to all other users of its stream part. */
export function expectedOf(plan: LoadPlan, results: readonly Pick<LoadResult, 'published'>[]): number {
  if (plan.history > 0) return plan.clients * plan.history
  if (!plan.subscribes) return 0
  return plan.parts.reduce((sum, _, part) => {
    const published = results.reduce((all, result) => all + (result.published[part] ?? 0), 0)
    return sum + published * (membersOf(plan, part) - 1)
  }, 0)
}
