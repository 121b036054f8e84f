import type { LoadPlan } from '../core/plan.ts'
import type { UserFactory } from './user.ts'

/** Makes users of the plan's kind; what a kind needs is loaded with it. Throws what that throws. */
export async function openFactory({ kind, history }: LoadPlan): Promise<UserFactory> {
  if (history > 0) return (await import('./history-readers.ts')).historyReaders(history)
  switch (kind) {
    case 'light':
      return (await import('./light-users.ts')).lightUsers()
    case 'process':
      return (await import('./process-users.ts')).processUsers()
    case 'browser':
      return (await import('./browser-users.ts')).browserUsers()
    case 'http':
      return (await import('./http-users.ts')).httpUsers()
    case 'mqtt':
      return (await import('./mqtt-users.ts')).mqttUsers()
  }
}
