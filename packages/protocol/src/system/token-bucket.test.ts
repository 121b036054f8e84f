import { expect, it } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

it('gives a burst, then as many as it earns, never saving more than a burst', () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0)
  expect([0, 0, 0, 0].map((now) => bucket.take(now))).toEqual([true, true, true, false])
  expect([499, 500, 999, 1000].map((now) => bucket.take(now))).toEqual([false, true, false, true])
  expect(bucket.take(1_000_000, 4)).toBe(false)
  expect(bucket.take(1_000_000, 3)).toBe(true)
  expect(bucket.take(1_000_000)).toBe(false)
})

it('says how long to wait for tokens, and takes none', () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0)
  expect(bucket.waitMs(0, 3)).toBe(0)
  bucket.take(0, 3)
  expect(bucket.waitMs(0)).toBe(500)
  expect(bucket.waitMs(250)).toBe(250)
  expect(bucket.waitMs(500)).toBe(0)
})

it('takes tokens that are given, as far as they fit', () => {
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, 0)
  bucket.take(0, 3)
  bucket.give(1)
  expect([bucket.take(0), bucket.take(0)]).toEqual([true, false])
  bucket.give(9)
  expect([bucket.take(0, 4), bucket.take(0, 3)]).toEqual([false, true])
})
