import { expect, it } from 'vitest'
import type { JoinReport, StageTimes } from './first-plan.ts'
import { rowsOf, summaries } from './first-rows.ts'

const options = { goal: 'message', arms: ['relayed'], repeats: 4, oneWayMs: 50, relayOneWayMs: 25 } as const

function reportOf(cold: StageTimes): JoinReport {
  const relayed = { local: 'relay', remote: 'relay' } as const
  const start = { side: 'offerer', transport: 'webrtc', path: relayed } as const
  const warm = { ...start, stages: { instruction: 100, message: 500 } }
  return { cold: { ...start, stages: cold }, warm, processMs: 700, cpuMs: 600, rssBytes: 100 * 2 ** 20 }
}

it('keeps every start, and says what is not on its way', () => {
  const rows = rowsOf({ ...options, arm: 'relayed', repeat: 3 }, reportOf({ registry: 40, message: 900 }))
  const common = { arm: 'relayed', repeat: 3, side: 'offerer', path: 'relay–relay', rssMiB: 100 }
  expect(rows).toMatchObject([
    { ...common, start: 'cold', registryMs: 40, dtlsMs: null, messageMs: 900, firstMs: 900 },
    { ...common, start: 'warm', registryMs: null, instructionMs: 100, messageMs: 500, firstMs: 500 },
  ])
})

it('sums up: quartiles, round trips on the way taken, what each stage took, and starts of a second hump', () => {
  const totalsMs = [900, 1_000, 1_000, 2_100]
  const rows = totalsMs.flatMap((message, repeat) =>
    rowsOf({ ...options, arm: 'relayed', repeat }, reportOf({ registry: 40, ice: 440, message })),
  )
  const [cold, warm] = summaries(rows)
  expect(cold).toMatchObject({ arm: 'relayed', start: 'cold', runs: 4, p50Ms: 1_000, maxMs: 2_100, slow: 1 })
  expect(cold).toMatchObject({ roundTrips: 10, stageP50Ms: 'registry 40, ice 400, message 560' })
  expect(warm).toMatchObject({ p50Ms: 500, iqrMs: 0, roundTrips: 5, slow: 0 })
})
