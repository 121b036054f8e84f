import { describe, expect, it, vi } from 'vitest'
import { attempt } from './attempt.ts'

describe('an attempt', () => {
  it.each([
    ['that fails is told', true, 1],
    ['that fails because somebody has left is not', false, 0],
  ])('%s', async (_, isCurrent, times) => {
    const onFailure = vi.fn()
    const work = Promise.reject(new Error('closed'))
    expect(await attempt(work, () => isCurrent, onFailure)).toBeUndefined()
    expect(onFailure).toHaveBeenCalledTimes(times)
  })

  it('gives what it was for', async () => {
    expect(await attempt(Promise.resolve(7), () => true, vi.fn())).toBe(7)
  })
})
