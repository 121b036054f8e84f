import { expect, it } from 'vitest'
import { lightBench } from './light-bench.ts'

it('measures guests beside neighbours', { timeout: 120_000 }, async () => {
  const report = await lightBench({ peers: 2, messages: 50, rounds: 1, idle: 4, starts: 2, limitS: 100 })
  const { guest, baseline } = report
  for (const { p50Ms } of [guest.firstMessageMs, baseline.neighbour.firstMessageMs])
    expect(p50Ms).toBeGreaterThan(0)
  for (const figure of [guest.cpuUsPerMessage, baseline.neighbour.cpuUsPerMessage, guest.heldKB])
    expect(figure).not.toBeNaN()
})
