import { expect, it } from 'vitest'
import { AskerKeys } from './asker-keys.ts'
import { requestLimits } from './limits.ts'
import { newReplyKeys, type ReplyKeys } from './reply-suite.ts'

function askerKeys(make: () => Promise<ReplyKeys> = newReplyKeys) {
  const time = { nowMs: 1_000_000 }
  return { time, keys: new AskerKeys({ clock: { monotonicMs: () => time.nowMs }, make }) }
}

it('gives the same keys for a while and so many requests, then new ones', async () => {
  const { time, keys } = askerKeys()
  const first = await keys.next()
  time.nowMs += requestLimits.keysLifeMs - 1
  expect(await keys.next()).toBe(first)
  time.nowMs++
  const second = await keys.next()
  expect(second.publicKey).not.toEqual(first.publicKey)
  for (let i = 1; i < requestLimits.maxRequestsOfKeys; i++) expect(await keys.next()).toBe(second)
  expect(await keys.next()).not.toBe(second)
})

it('tries again where making keys failed', async () => {
  let fails = true
  const { keys } = askerKeys(() => (fails ? Promise.reject(new Error('not loaded')) : newReplyKeys()))
  await expect(keys.next()).rejects.toThrow('not loaded')
  fails = false
  expect((await keys.next()).publicKey).toHaveLength(32)
})
