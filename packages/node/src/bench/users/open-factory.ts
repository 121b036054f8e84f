import type { LoadPlan } from '../core/plan.ts'
import type { UserFactory, UserPlace } from './user.ts'

/** Makes users of the plan's kind; what a kind needs is loaded with it. Throws what that throws. */
export async function openFactory({ kind }: LoadPlan, _place: UserPlace): Promise<UserFactory> {
  switch (kind) {
    case 'light':
      return (await import('./light-users.ts')).lightUsers()
    default:
      throw new Error(kind)
  }
}
