import { membersOf, type LoadPlan, type UserRole } from '../core/plan.ts'
import type { BenchUser } from '../users/user.ts'

/** How many users that lack something are named. */
const maxNamed = 5

/** What users lack of a settled overlay: as many neighbours as its tracker wants, and as its degree says. Empty when it has settled. */
export async function lackingNeighbours(
  plan: LoadPlan,
  users: readonly { readonly role: UserRole; readonly user: Pick<BenchUser, 'neighbours'> }[],
): Promise<readonly string[]> {
  const counts = await Promise.all(users.map(({ user }) => user.neighbours()))
  const lacking = users.flatMap(({ role }, index) => {
    const neighbours = counts[index]
    if (neighbours === undefined) return []
    const wants = Math.max(neighbours.wants, Math.min(plan.degree, membersOf(plan, role.part) - 1))
    const short = wants - neighbours.has
    const text = `user ${role.number} has ${neighbours.has} of ${wants} neighbours`
    return short > 0 ? [{ part: role.part, short, text }] : []
  })
  // Where the number of nodes times the degree is odd, one of an overlay has one neighbour too few.
  const short = Map.groupBy(lacking, ({ part }) => part)
  const real = lacking.filter(({ part, short: own }) => own > 1 || (short.get(part)?.length ?? 0) > 1)
  return firstOf(real.map(({ text }) => text))
}

/** The first of what users lack, and how many more there are. */
export function firstOf(texts: readonly string[]): readonly string[] {
  const others = texts.length - maxNamed
  return [...texts.slice(0, maxNamed), ...(others > 0 ? [`${others} more`] : [])]
}
