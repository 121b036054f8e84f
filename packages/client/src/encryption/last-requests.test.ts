import { VirtualClock } from '@runnel/transport'
import { expect, it } from 'vitest'
import { answerLastRequests } from './last-requests.ts'
import { turns } from './world.testkit.ts'

/** When it ended, in milliseconds, with requests at these times. */
async function ended(
  requestsAtMs: readonly number[],
  { neighbourMs = 0, hasCompany = true, settled = async () => {} } = {},
) {
  const clock = new VirtualClock({ startMs: 0 })
  const desk = { requests: 0, settled }
  for (const atMs of requestsAtMs) clock.schedule(atMs, () => desk.requests++)
  const waitForNeighbour = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      clock.schedule(neighbourMs, resolve)
      signal.addEventListener('abort', () => reject(signal.reason))
    })
  const { signal } = new AbortController()
  let isDone = false
  const done = answerLastRequests({ clock, desk, keyPart: { hasCompany, waitForNeighbour } }, signal)
  void done.then(() => (isDone = true))
  await turns(2)
  while (!isDone && clock.step()) await turns(2)
  await done
  return clock.monotonicMs()
}

it('ends when nobody has asked for a second', async () => {
  expect(await ended([])).toBe(1_000)
  expect(await ended([200])).toBe(2_000)
  expect(await ended([], { neighbourMs: 500 })).toBe(1_500)
})

it('is bounded, also where requests do not end, or nobody comes', async () => {
  expect(await ended(Array.from({ length: 100 }, (_, i) => i * 100))).toBe(3_000)
  expect(await ended([], { neighbourMs: 1e9 })).toBe(3_000)
  expect(await ended([], { settled: () => new Promise(() => {}) })).toBe(3_000)
})

it('does not wait where nobody else is in the stream', async () => {
  expect(await ended([], { hasCompany: false })).toBe(0)
})
