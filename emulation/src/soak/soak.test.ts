import { expect, it } from 'vitest'
import { durationMs } from './soak-command.ts'
import { runSoak } from './run-soak.ts'
import { soakFigure } from './soak-figure.ts'
import { trendOf } from './trend.ts'

const forMs = 12_000
const options = { forMs, tabs: true, sampleEveryMs: 500, churnEveryMs: 5_000 }

it('runs everything for a short while, and samples every process', { timeout: 300_000 }, async () => {
  const { series, comings } = await runSoak(options, new AbortController().signal, () => {})
  expect(comings).toBeGreaterThan(0)
  const of = (process: string, quantity: string) =>
    series.find((one) => one.process === process && one.quantity === quantity)?.points ?? []
  for (const name of ['tracker', 'storage', 'node-1', 'node-2', 'node-3', 'node-4', 'application'])
    for (const quantity of ['rssBytes', 'heapBytes', 'descriptors', 'timers'])
      expect(of(name, quantity).length, `${name} ${quantity}`).toBeGreaterThan(2)
  // What goes on does go on: messages arrive at nodes and in tabs, stored ones come again, clients come and go.
  for (const [name, quantity] of [
    ['delays', 'delivered'],
    ['delays', 'resent'],
    ['tab', 'delivered'],
  ] as const)
    expect(of(name, quantity).at(-1)?.value, `${name} ${quantity}`).toBeGreaterThan(0)
  // Nothing is said of growth so early.
  expect(
    series.flatMap((one) => trendOf(one)?.verdict ?? []).filter((verdict) => verdict !== 'unclear'),
  ).toEqual([])
  expect(soakFigure(series).name).toBe('soak')
})

it.each([
  ['90s', 90_000],
  ['1h', 3_600_000],
  ['0.5m', 30_000],
])('understands %s', (text, ms) => {
  expect(durationMs(text)).toBe(ms)
})

it.each(['', '5', '1d', '0s', '-1m'])('refuses %j as a time', (text) => {
  expect(() => durationMs(text)).toThrow('--for is a time')
})
