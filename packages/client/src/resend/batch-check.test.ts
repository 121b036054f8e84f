import {
  buildBatch,
  delegationRef,
  encodeDelegation,
  signDelegation,
  type MessageBatch,
  type VerificationPool,
} from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { maxAheadMs } from '../publish/message-clock.ts'
import { BatchCheck } from './batch-check.ts'
import { chainOf, crypto, identityOf, streamId } from './batches.testkit.ts'

const [alice, delegate] = [identityOf('alice'), identityOf('the key of a page')]
const startMs = Date.UTC(2026, 0, 1)
const claim = {
  ...{ chainId: 0, userId: alice.nodeId, delegateId: delegate.nodeId, block: 0, requester: 'a test' },
  ...{ fromMs: startMs, untilMs: startMs + 1_000, publishes: true, reads: true, streams: [streamId] },
}
const delegation = signDelegation(claim, crypto, alice)
const ref = delegationRef(encodeDelegation(delegation), crypto)

/** One message of Alice's, signed by a key under the delegation. */
function delegatedBatch(timestamp: number, signer = delegate): MessageBatch {
  const [plain] = chainOf([timestamp])
  if (plain === undefined) throw new Error('no batch')
  const { chain, messages } = plain
  return buildBatch({ chain, messages }, crypto, { sign: signer.sign, delegationRef: ref })
}

interface Setting {
  readonly clock: VirtualClock
  readonly isKnown: boolean
  readonly isGood: boolean
  readonly isOfOtherChain: boolean
  readonly revokedMs: number
  readonly lookUps: number
  readonly verification: VerificationPool
}

function setUp({
  isKnown = true,
  isGood = true,
  isOfOtherChain = false,
  revokedMs = Infinity,
  lookUps = 0,
  verification,
  clock = new VirtualClock({ startMs: startMs + 60_000 }),
}: Partial<Setting> = {}): BatchCheck {
  let left = lookUps
  return new BatchCheck({
    ...{ crypto, clock, verification },
    delegations: {
      get: () => (isKnown ? delegation : undefined),
      isOfOtherChain: () => isOfOtherChain,
      isGood: () => isGood,
    },
    endings: { validUntilMs: () => Promise.resolve(revokedMs) },
    policy: {
      // Of a delegation it says how it is now, whatever the time.
      check: (_stream, _publisher, _wallMs, _oldestMs, under) => {
        if (left > 0) return 'unknown'
        return under === undefined || revokedMs === Infinity ? 'allowed' : 'denied'
      },
      resolve: () => {
        left--
        return Promise.resolve()
      },
    },
  })
}

it('takes a batch of a delegate whose delegation covers it', async () => {
  expect(await setUp().check(delegatedBatch(startMs))).toBe('good')
})

it('takes for forged what no delegation covers', async () => {
  const cases = [
    setUp({ isKnown: false }).check(delegatedBatch(startMs)),
    setUp({ isGood: false }).check(delegatedBatch(startMs)),
    setUp().check(delegatedBatch(startMs - 1)),
    setUp().check(delegatedBatch(startMs + 1_000)),
    setUp().check(delegatedBatch(startMs, identityOf('mallory'))),
  ]
  for (const verdict of cases) expect(await verdict).toBe('forged')
})

it('leaves out what is too far ahead of this clock, and takes nobody for a forger whose clock may be ahead', async () => {
  const check = setUp({ clock: new VirtualClock({ startMs }) })
  const verdictOn = async (aheadMs: number) => check.check(chainOf([startMs + aheadMs])[0] as MessageBatch)
  const verdicts = await Promise.all([maxAheadMs, maxAheadMs + 1, 2 * maxAheadMs + 1].map(verdictOn))
  expect(verdicts).toEqual(['good', 'denied', 'forged'])
})

it('denies what is signed under a delegation for another chain, and takes nobody for a forger', async () => {
  const check = setUp({ isOfOtherChain: true, isGood: false })
  expect(await check.check(delegatedBatch(startMs))).toBe('denied')
})

it('needs witnesses for what is older than the end of a delegation, and refuses the rest', async () => {
  const revoked = setUp({ revokedMs: startMs + 500 })
  expect(await revoked.check(delegatedBatch(startMs + 499))).toBe('doubtful')
  expect(await revoked.check(delegatedBatch(startMs + 500))).toBe('denied')
})

it('looks up again what a change of the registry makes unknown while it is looked up', async () => {
  expect(await setUp({ lookUps: 2 }).check(delegatedBatch(startMs))).toBe('good')
})

it('does not look up for ever what stays unknown', async () => {
  expect(await setUp({ lookUps: Infinity }).check(delegatedBatch(startMs))).toBe('denied')
})

/** A pool that takes so many, and gives its verdicts when it is told to. */
function poolOf(spare: number) {
  let room = spare
  const asked: { readonly signerId: string; readonly answer: Parameters<VerificationPool['verify']>[2] }[] =
    []
  const verification: VerificationPool = {
    workersLost: 0,
    verify(_, signerId, answer) {
      if (room-- <= 0) return false
      asked.push({ signerId, answer })
      return true
    },
    stop: () => undefined,
  }
  return { asked, verification, makeRoom: (more: number) => void (room = more) }
}

function setUpAhead(room: number) {
  const { asked, verification, makeRoom } = poolOf(room)
  const clock = new VirtualClock({ startMs: startMs + 60_000 })
  const check = setUp({ verification, clock })
  const signatures = check.signaturesAhead() ?? expect.fail()
  const leaving = new AbortController()
  const ahead = (batches: readonly MessageBatch[]) => {
    for (const batch of batches) check.ahead(batch, signatures, leaving.signal)
    clock.runUntilIdle()
  }
  return {
    ...{ asked, makeRoom, signatures, leaving },

    ahead,
    verdictOf: (batch: MessageBatch) => check.check(batch, signatures),
  }
}

const single = (timestamp: number): MessageBatch => chainOf([timestamp])[0] ?? expect.fail()

it('asks other cores for the signatures of batches that wait, and checks itself what they do not say', async () => {
  const { asked, ahead, verdictOf } = setUpAhead(3)
  const batches = [delegatedBatch(startMs), ...[0, 1, 2].map((at) => single(startMs + at))]
  ahead(batches)
  expect(asked.map(({ signerId }) => signerId)).toEqual([delegate.nodeId, alice.nodeId, alice.nodeId])
  asked.forEach(({ answer }, i) => answer([true, false, undefined][i]))
  const verdicts: unknown[] = []
  for (const batch of batches) verdicts.push(await verdictOf(batch))
  expect(verdicts).toEqual(['good', 'forged', 'good', 'good'])
})

it('checks itself what other cores were not given while it waits for them, and asks nobody for it again', async () => {
  const { asked, ahead, verdictOf } = setUpAhead(1)
  const batches = [0, 1, 2].map((at) => single(startMs + at))
  ahead(batches)
  const first = verdictOf(batches[0] ?? expect.fail())
  expect(first).toBeInstanceOf(Promise)
  asked[0]?.answer(true)
  expect(await first).toBe('good')
  expect(batches.slice(1).map(verdictOf)).toEqual(['good', 'good'])
  expect(asked).toHaveLength(1)
})

it('gives other cores few at a time, and none that nobody wants any more', async () => {
  const { asked, ahead, leaving } = setUpAhead(Infinity)
  const batch = single(startMs)
  ahead(Array.from({ length: 1_000 }, () => ({ ...batch })))
  expect(asked).toHaveLength(256)
  asked[0]?.answer(true)
  expect(asked).toHaveLength(257)
  leaving.abort()
  asked[1]?.answer(true)
  expect(asked).toHaveLength(257)
})

it('gives other cores no copies of what was passed over, however many there are', async () => {
  const { asked, ahead, makeRoom, verdictOf } = setUpAhead(0)
  const [early, late, next] = [0, 1, 2].map((at) => single(startMs + at)) as [
    MessageBatch,
    MessageBatch,
    MessageBatch,
  ]
  // Of the last of these, which no source has reached, none is passed over.
  ahead([next, ...Array.from({ length: 2_000 }, () => ({ ...early })), late])
  expect([await verdictOf(early), await verdictOf(late)]).toEqual(['good', 'good'])
  makeRoom(Infinity)
  ahead([{ ...early }, { ...next }])
  expect(asked).toHaveLength(2)
})
