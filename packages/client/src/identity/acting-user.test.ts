import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  signDelegation,
  verifyMembership,
  type Delegation,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { describe, expect, it } from 'vitest'
import { ActingUser, ownDelegationMs, type DelegationNews } from './acting-user.ts'

const crypto = await loadCrypto()
const random = seededRandom('acting user')
const [user, delegate, node] = [1, 2, 3].map(() => createIdentity(generatePrivateKey(random), crypto)) as [
  ReturnType<typeof createIdentity>,
  ReturnType<typeof createIdentity>,
  ReturnType<typeof createIdentity>,
]
const hourMs = 3_600_000

function setUp(options: { lastsMs: number; renew?: () => Promise<number>; hasKey?: boolean }) {
  const { lastsMs, renew, hasKey = false } = options
  const clock = new VirtualClock({ startMs: Date.UTC(2026, 0, 1) })
  const signed = (forMs: number, notBeforeMs = 0): Delegation => {
    const fromMs = Math.max(clock.now(), notBeforeMs)
    const times = { fromMs, untilMs: fromMs + forMs }
    const parties = { chainId: 0, userId: user.nodeId, delegateId: delegate.nodeId, block: 0 }
    const rights = { publishes: true, reads: true, streams: [], requester: 'a test' }
    return signDelegation({ ...times, ...parties, ...rights }, crypto, user)
  }
  const acting = new ActingUser(
    {
      ...{ nodeId: node.nodeId, userId: user.nodeId, chainId: 0, delegate, delegation: signed(lastsMs) },
      ...(hasKey ? { key: user } : {}),
      ...(renew ? { renew: async (notBeforeMs: number) => signed(await renew(), notBeforeMs) } : {}),
    },
    { crypto, clock },
  )
  const news: DelegationNews[] = []
  acting.onNews = (one) => news.push(one)
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= hourMs / 4) {
      clock.advanceBy(Math.min(left, hourMs / 4))
      await new Promise(setImmediate)
    }
  }
  return { acting, clock, news, pass }
}

describe('a delegation that nobody can renew', () => {
  it('is said to end each time half of the rest is over, and when it has', async () => {
    const { news, pass } = setUp({ lastsMs: 8 * hourMs })
    await pass(9 * hourMs)
    expect(news.slice(0, 3).map(({ state, leftMs }) => [state, leftMs / hourMs])).toEqual([
      ['ending', 4],
      ['ending', 2],
      ['ending', 1],
    ])
    expect(news.filter(({ state }) => state === 'expired')).toEqual([{ state: 'expired', leftMs: 0 }])
    expect(news.at(-1)?.state).toBe('expired')
  })

  it('has the delegate’s token for the node made anew in time', async () => {
    const { acting, clock, news, pass } = setUp({ lastsMs: 10 * ownDelegationMs })
    let shown = 0
    acting.onChange(() => shown++)
    await pass(2 * ownDelegationMs)
    const { token } = acting.credential() ?? {}
    expect(token && verifyMembership(token, node.nodeId, clock.now(), crypto)).toBe(true)
    expect([shown, news]).toEqual([4, []])
  })
})

describe('a delegation that is renewed', () => {
  it('is so when half of it is over, and tried again while that fails', async () => {
    let isAway = true
    const renew = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(8 * hourMs))
    const { acting, news, pass } = setUp({ lastsMs: 8 * hourMs, renew })
    const before = acting.signer.delegationRef
    await pass(4.5 * hourMs)
    expect(news).toMatchObject([{ state: 'ending', error: { message: 'away' } }])
    isAway = false
    await pass(2 * hourMs)
    expect(news[1]).toMatchObject({ state: 'renewed', leftMs: 8 * hourMs })
    expect(acting.signer.delegationRef).not.toBe(before)
  })

  it('is no news where the user’s key is at hand, and ends with the client', async () => {
    let renewals = 0
    const { acting, news, pass } = setUp({
      lastsMs: ownDelegationMs,
      hasKey: true,
      renew: () => Promise.resolve(++renewals && ownDelegationMs),
    })
    await pass(ownDelegationMs)
    expect([renewals, news, acting.delegation]).toEqual([2, [], undefined])
    acting.stop()
    await pass(ownDelegationMs)
    expect(renewals).toBe(2)
  })
})

describe('what its user ended', () => {
  const ended = async (hasKey: boolean) => {
    const renew = () => Promise.resolve(ownDelegationMs)
    const { acting, clock } = setUp({ lastsMs: ownDelegationMs, hasKey, renew })
    const begins = () => (acting.credential()?.delegation.fromMs ?? 0) - clock.now()
    acting.endedUntil(clock.now() - 1)
    await new Promise(setImmediate)
    const before = begins()
    // By a machine whose clock is ahead.
    acting.endedUntil(clock.now() + 1000)
    await new Promise(setImmediate)
    return [before, begins()]
  }

  it('is replaced at once where the user’s key is at hand, by one that begins later', async () => {
    expect(await ended(true)).toEqual([0, 1001])
  })

  it('stays ended where it is not', async () => {
    expect(await ended(false)).toEqual([0, 0])
  })
})
