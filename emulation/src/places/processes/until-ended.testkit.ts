import { vi } from 'vitest'
import { statFieldsOf } from '../../../../packages/node/src/up/process-stat.ts'

/** Resolves when a process that is no child of this one has ended, whether or not anybody has asked how. */
export function untilEnded(pid: string): Promise<unknown> {
  const state = (): string | undefined => {
    try {
      return statFieldsOf(Number(pid))[0]
    } catch {
      return undefined
    }
  }
  return vi.waitUntil(() => [undefined, 'Z', 'X'].includes(state()), { timeout: 60_000 })
}
