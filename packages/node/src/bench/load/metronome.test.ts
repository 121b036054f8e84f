import { expect, it } from 'vitest'
import { Metronome, preciseNow } from './metronome.ts'
import { Publishing } from './publishing.ts'

it('calls back at each moment it was given, and never before', async () => {
  const moments = [2, 5, 5.3, 9].map((ms) => preciseNow() + ms)
  const early: number[] = []
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const metronome = new Metronome(() => {
    const nowMs = preciseNow()
    while (moments[0] !== undefined && moments[0] <= nowMs) moments.shift()
    const [nextMs = Infinity] = moments
    if (nextMs === Infinity) resolve()
    else early.push(nextMs - nowMs)
    return nextMs
  })
  metronome.start()
  metronome.start()
  await done
  await metronome.stop()
  await metronome.stop()
  expect(early.every((ms) => ms > 0)).toBe(true)
})

it('stops while it waits', async () => {
  const metronome = new Metronome(() => preciseNow() + 3_600_000)
  metronome.start()
  await metronome.stop()
})

it('publishes all that is due in a window, each flow at its rate, never before it is due', async () => {
  const startMs = preciseNow()
  const flow = { sizeBytes: 100, urgent: false }
  const flows = [
    { ...flow, name: 'often', ratePerS: 500 },
    { ...flow, name: 'seldom', ratePerS: 100 },
  ]
  const due: number[] = []
  let early = 0
  const publishing = new Publishing(
    { publishers: 2, flows, share: { index: 0, of: 1 } },
    { startMs, endMs: startMs + 40 },
    (message) => {
      due.push(message.flow)
      if (message.intendedMs > preciseNow()) early++
    },
  )
  publishing.start()
  await publishing.done
  await publishing.stop()
  expect(due.filter((one) => one === 0)).toHaveLength(40)
  expect(due.filter((one) => one === 1)).toHaveLength(8)
  expect(early).toBe(0)
})

it('gives others a turn while it is behind, and publishes all in the end', async () => {
  const startMs = preciseNow() - 1_000
  const flow = { name: 'late', ratePerS: 20, sizeBytes: 100, urgent: false }
  let published = 0
  let untilOthers: number | undefined
  const publishing = new Publishing(
    { publishers: 1, flows: [flow], share: { index: 0, of: 1 } },
    { startMs, endMs: startMs + 1_000 },
    () => {
      if (published++ === 0) setImmediate(() => (untilOthers = published))
      // Longer than it publishes in one turn; what comes meanwhile asks, too.
      const untilMs = preciseNow() + 6
      while (preciseNow() < untilMs);
      publishing.catchUp()
    },
  )
  publishing.start()
  await publishing.done
  await publishing.stop()
  expect(untilOthers).toBe(1)
  expect(published).toBe(20)
})

it('ticks at once for who asks when it is due, and not before', async () => {
  const ticks: number[] = []
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const metronome = new Metronome(() => {
    resolve()
    ticks.push(preciseNow())
    return preciseNow() + 2
  })
  metronome.catchUp()
  expect(ticks).toEqual([])
  metronome.start()
  await begun
  const dueMs = preciseNow() + 3
  const before = ticks.length
  metronome.catchUp()
  // The thread's knock waits for the end of this turn.
  while (preciseNow() < dueMs);
  metronome.catchUp()
  metronome.catchUp()
  expect(ticks).toHaveLength(before + 1)
  await metronome.stop()
})
