import { describe, expect, it } from 'vitest'
import { minStampedBytes, stamped, stampOf } from './stamp.ts'

const stamp = {
  runId: 4_294_967_295,
  sender: 65_535,
  user: 70_000,
  flow: 1,
  count: 3,
  intendedMs: 1_790_000_000_000.125,
}

describe('a stamp', () => {
  it('is read back from content of any length', () => {
    expect(stampOf(stamped(stamp, 500), stamp.runId)).toEqual(stamp)
    expect(stamped(stamp, 500)).toHaveLength(500)
    expect(stamped(stamp, 0)).toHaveLength(minStampedBytes)
  })

  it('is none of another run, nor of content that has none', () => {
    expect(stampOf(stamped(stamp, 100), 1)).toBeUndefined()
    expect(stampOf(new Uint8Array(23), 0)).toBeUndefined()
    expect(stampOf(new Uint8Array(100), 0)).toBeUndefined()
  })

  it('cannot be taken for text', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true })
    expect(() => decoder.decode(stamped({ ...stamp, runId: 0, user: 0, intendedMs: 0 }, 24))).toThrow()
  })
})
