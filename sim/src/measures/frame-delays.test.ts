import { describe, expect, it } from 'vitest'
import { frameDelays } from './frame-delays.ts'

describe('the delays of frames', () => {
  it('are of those that came', () => {
    const delaysMs = Array.from({ length: 100 }, (_, i) => i + 1)
    expect(frameDelays(120, delaysMs)).toMatchObject({ expected: 120, arrived: 100, maxMs: 100 })
  })

  it('are endless where none came', () => {
    expect(frameDelays(3, [])).toMatchObject({ arrived: 0, p50Ms: Infinity, maxMs: Infinity })
  })
})
