import { describe, expect, it } from 'vitest'
import { createChainAccount, maxRemembered } from './chain-account.ts'

const ref = (timestamp: number) => ({ timestamp, sequenceNumber: 0 })
const previousOf = (timestamp: number) => (timestamp > 1 ? ref(timestamp - 1) : undefined)

function accountOf(...timestamps: number[]) {
  const account = createChainAccount()
  for (const timestamp of timestamps) account.record(ref(timestamp), previousOf(timestamp))
  return account.totals()
}

describe('createChainAccount', () => {
  it('is at peace with every message once, in order', () => {
    expect(accountOf(1, 2, 3)).toEqual({ delivered: 3, repeated: 0, missing: 0, tooOld: 0, last: ref(3) })
  })

  it('counts a repeated message', () => {
    expect(accountOf(1, 2, 2, 1)).toMatchObject({ delivered: 2, repeated: 2 })
  })

  it('misses what a later message refers to, until it comes', () => {
    expect(accountOf(1, 3)).toMatchObject({ delivered: 2, missing: 1 })
    expect(accountOf(1, 3, 2)).toMatchObject({ delivered: 3, missing: 0, last: ref(3) })
  })

  it('does not miss what was before the first message it saw', () => {
    expect(accountOf(5, 6)).toMatchObject({ delivered: 2, missing: 0 })
  })

  it('tells messages of one millisecond apart', () => {
    const account = createChainAccount()
    account.record({ timestamp: 1, sequenceNumber: 0 }, undefined)
    account.record({ timestamp: 1, sequenceNumber: 1 }, { timestamp: 1, sequenceNumber: 0 })
    expect(account.totals()).toMatchObject({ delivered: 2, repeated: 0, missing: 0 })
  })

  it('misses no message that came when it was too old to be told from a repeated one', () => {
    const later = Array.from({ length: maxRemembered + 2 }, (_, index) => index + 3)
    expect(accountOf(1, ...later, 2)).toMatchObject({ missing: 0, tooOld: 1 })
  })

  it('remembers a bounded number, and says so of older ones', () => {
    const all = Array.from({ length: maxRemembered + 2 }, (_, index) => index + 1)
    expect(accountOf(...all, 1, 2, 3)).toMatchObject({ delivered: all.length, tooOld: 2, repeated: 1 })
  })
})
