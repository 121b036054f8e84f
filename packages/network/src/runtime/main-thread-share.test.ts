import { expect, it } from 'vitest'
import { MainThreadShare } from './main-thread-share.ts'

it('is behind once more than a burst was spent, until its share of time has gone by', () => {
  const share = new MainThreadShare({ burstMs: 2, share: 0.1 })
  share.spent(2, 1_000)
  expect(share.isBehind(1_000)).toBe(false)
  share.spent(0.5, 1_000)
  expect(share.isBehind(1_000)).toBe(true)
  expect(share.isBehind(1_004)).toBe(true)
  expect(share.isBehind(1_005)).toBe(false)
})

it('forgets a long turn soon', () => {
  const share = new MainThreadShare({ burstMs: 2, share: 0.1 })
  share.spent(10_000, 10_000)
  expect(share.isBehind(10_019)).toBe(true)
  expect(share.isBehind(10_020)).toBe(false)
})
