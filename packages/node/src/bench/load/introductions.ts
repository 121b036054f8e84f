import { membersOf, type LoadPlan, type UserRole } from '../core/plan.ts'
import type { Stamp } from '../core/stamp.ts'

/** No flow has this number. */
const introductionFlow = 255

/**
 * The first message of each publisher, an ordinary one, as real sessions begin with catalogues: who reads it has looked its publisher up. An
 * urgent message does not wait for that, so the first ones of a publisher would be lost.
 */
export class Introductions {
  /** Publishers that each reader has heard of. */
  readonly #heard = new Map<number, Set<number>>()

  /** What a publisher says; it counts as no message of the run. */
  static stampOf(plan: LoadPlan, user: number): Stamp {
    return { runId: plan.runId, sender: plan.sender, user, flow: introductionFlow, count: 0, intendedMs: 0 }
  }

  /** Whether a message is one; then it is noted. */
  take(plan: LoadPlan, reader: number, { flow, user }: Stamp): boolean {
    if (flow !== introductionFlow) return false
    const heard = this.#heard.get(reader) ?? new Set()
    this.#heard.set(reader, heard)
    if (user < plan.clients) heard.add(user)
    return true
  }

  /** Who has not heard of all publishers of its stream part; for people. */
  lacking(plan: LoadPlan, roles: readonly UserRole[]): readonly string[] {
    return roles.flatMap(({ number, part, publishes }) => {
      const others = Math.min(plan.publishersPerPart, membersOf(plan, part)) - (publishes ? 1 : 0)
      const heard = this.#heard.get(number)?.size ?? 0
      return heard >= others ? [] : [`user ${number} has heard of ${heard} of ${others} publishers`]
    })
  }
}
