import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { Idempotency } from './idempotency.ts'

const allLimits = { maxIdempotentAnswers: 3, maxIdempotentAnswersOfKey: 3, idempotentMs: 1_000 }

function open(limits = allLimits) {
  const clock = new VirtualClock()
  const idempotency = new Idempotency<number>(limits, clock)
  let acts = 0
  const once = (key: string, what = 'body', account = 'a') =>
    idempotency.once(account, key, [what], async () => ++acts)
  return { clock, idempotency, once }
}

describe('an idempotency key', () => {
  it('has the same answer while it is remembered', async () => {
    const { clock, once } = open()
    expect(await Promise.all([once('k'), once('k')])).toEqual([1, 1])
    clock.advanceBy(999)
    expect(await once('k')).toBe(1)
    clock.advanceBy(1)
    expect(await once('k')).toBe(2)
  })

  it('is of one account, and of one request', async () => {
    const { once } = open()
    await once('k')
    expect(await once('k', 'body', 'b')).toBe(2)
    await expect(once('k', 'other')).rejects.toMatchObject({ code: 'GATEWAY_REUSED_KEY' })
  })

  it('of what failed can be used again', async () => {
    const { idempotency, once } = open()
    const failed = idempotency.once('a', 'k', ['body'], () => Promise.reject(new Error('no')))
    await expect(failed).rejects.toThrow('no')
    expect(await once('k')).toBe(1)
  })

  it('is remembered for so many requests, the newest', async () => {
    const { idempotency, once } = open()
    for (const key of ['k', 'l', 'm', 'n']) await once(key)
    expect(idempotency.size).toBe(3)
    expect(await once('n')).toBe(4)
    expect(await once('k')).toBe(5)
  })

  it('of one account takes no more than its share of what is remembered', async () => {
    const { idempotency, once } = open({ ...allLimits, maxIdempotentAnswersOfKey: 2 })
    await once('k', 'body', 'other')
    for (const key of ['k', 'l', 'm', 'n']) await once(key)
    expect(idempotency.size).toBe(3)
    expect(await once('k', 'body', 'other')).toBe(1)
    expect(await once('m')).toBe(4)
    expect(await once('l')).toBe(6)
  })
})
