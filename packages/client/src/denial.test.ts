import { RunnelError } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import { expect, it, vi } from 'vitest'
import { Denial, finalAfterMs } from './denial.ts'

const revoked = new RunnelError('NO_SUBSCRIBE_PERMISSION', 'revoked', '')
const away = new Error('the registry does not answer')
/** Promises have no clock: all that is due now is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A user who may read or not, as the registry says, and what was final. */
function setUp(answer: Error | undefined) {
  const clock = new VirtualClock({ startMs: 0 })
  const ending = new AbortController()
  const onFinal = vi.fn<(reason: RunnelError) => void>()
  const state = { answer, asked: 0 }
  const check = () => {
    state.asked++
    return state.answer === undefined ? Promise.resolve() : Promise.reject(state.answer)
  }
  const denial = new Denial({ clock, check, onFinal, signal: ending.signal })
  const pass = async (forMs: number) => {
    await settled()
    for (let passedMs = 0; passedMs < forMs; passedMs += 1_000) {
      clock.advanceBy(1_000)
      await settled()
    }
  }
  return { denial, ending, onFinal, pass, state }
}

it('is final when it lasts, once, however often it is told', async () => {
  const { denial, onFinal, pass } = setUp(revoked)
  denial.suspect()
  await pass(finalAfterMs - 1_000)
  denial.suspect()
  expect(onFinal).not.toHaveBeenCalled()
  await pass(1_000)
  denial.suspect()
  await pass(2 * finalAfterMs)
  expect(onFinal.mock.calls).toEqual([[revoked]])
})

it('is none where a grant comes back, as with a chain that reverted its block, and begins anew when it is lost again', async () => {
  const { denial, onFinal, pass, state } = setUp(revoked)
  denial.suspect()
  await pass(finalAfterMs / 2)
  state.answer = undefined
  await pass(finalAfterMs)
  expect(onFinal).not.toHaveBeenCalled()
  state.answer = revoked
  denial.suspect()
  await pass(finalAfterMs - 1_000)
  expect(onFinal).not.toHaveBeenCalled()
  await pass(1_000)
  expect(onFinal).toHaveBeenCalledOnce()
})

it('waits for a registry that does not answer when the right is lost', async () => {
  const { denial, onFinal, pass, state } = setUp(away)
  denial.suspect()
  await pass(3 * finalAfterMs)
  expect(onFinal).not.toHaveBeenCalled()
  state.answer = revoked
  await pass(finalAfterMs)
  expect(onFinal.mock.calls).toEqual([[revoked]])
})

it('is looked at again where it is told while the user is found to read', async () => {
  const { denial, onFinal, pass, state } = setUp(undefined)
  denial.suspect()
  state.answer = revoked
  denial.suspect()
  await pass(finalAfterMs)
  expect(onFinal.mock.calls).toEqual([[revoked]])
})

it('ends with its signal', async () => {
  const { denial, ending, onFinal, pass, state } = setUp(revoked)
  denial.suspect()
  await settled()
  ending.abort()
  await pass(2 * finalAfterMs)
  expect([onFinal.mock.calls, state.asked]).toEqual([[], 1])
})
