import { expect, it } from 'vitest'
import { killWhilePublishing } from './kill-while-publishing.ts'

/** Kills five nodes, each of which is back after so long, while messages are published for 100 s; gives when. */
async function killTimes(backAfterMs: number) {
  let nowMs = 7_000
  const endMs = nowMs + 100_000
  const timesMs: number[] = []
  const killed = await killWhilePublishing(
    { victims: [1, 2, 3, 5, 6], publishingMs: 100_000 },
    {
      now: () => nowMs,
      pause: (ms) => Promise.resolve(void (nowMs += ms)),
      isPublishing: () => Promise.resolve(nowMs < endMs),
      kill: () => {
        timesMs.push(nowMs - 7_000)
        nowMs += backAfterMs
        return Promise.resolve()
      },
    },
  )
  return { killed, timesMs }
}

it('spreads kills over the time in which messages are published', async () => {
  expect(await killTimes(20_000)).toEqual({
    killed: [1, 2, 3, 5, 6],
    timesMs: [10_000, 30_000, 50_000, 70_000, 90_000],
  })
})

it('kills nobody after the last message', async () => {
  expect(await killTimes(40_000)).toEqual({ killed: [1, 2, 3], timesMs: [10_000, 50_000, 90_000] })
})
