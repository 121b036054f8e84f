import { expect, it, vi } from 'vitest'
import type { Child, ChildOptions } from '../../up/child.ts'
import { startOwnNetwork } from './own-network.ts'

/** Processes that were told to stop, and what ends them. */
const stopping = new Map<string, () => void>()
vi.mock('../../up/child.ts', () => ({
  startChild: ({ name }: ChildOptions): Promise<Child> => {
    const stop = () => new Promise<void>((resolve) => void stopping.set(name, resolve))
    return Promise.resolve({ name, pid: undefined, stop } as Partial<Child> as Child)
  },
}))

it('stops its nodes side by side, as each that hangs is waited for, and then the tracker that they take leave of', async () => {
  const { signal } = new AbortController()
  const options = { nodes: 2, parts: 1, degree: 4, encrypted: false, storage: true, gateways: false }
  const network = await startOwnNetwork({ ...options, signal, onProgress: () => {} })
  const stopped = network.stop()
  expect([...stopping.keys()].toSorted()).toEqual(['node 1', 'node 2', 'storage'])
  for (const end of stopping.values()) end()
  await expect.poll(() => stopping.has('tracker')).toBe(true)
  stopping.get('tracker')?.()
  await stopped
})
