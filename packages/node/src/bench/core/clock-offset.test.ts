import { describe, expect, it } from 'vitest'
import { clockDistance } from './clock-offset.ts'

describe('clockDistance', () => {
  it('believes the quickest exchange, as far as half its round trip', () => {
    const exchanges = [
      { askedMs: 0, workerMs: 130, answeredMs: 40 },
      { askedMs: 100, workerMs: 201, answeredMs: 104 },
      { askedMs: 200, workerMs: 320, answeredMs: 230 },
    ]
    expect(clockDistance(exchanges)).toEqual({ offsetMs: -99, errorMs: 2 })
  })

  it('knows nothing without an exchange', () => {
    expect(clockDistance([]).errorMs).toBe(Infinity)
  })
})
