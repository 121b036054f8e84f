import { describe, expect, it } from 'vitest'
import { LoopbackPlace } from '../places/loopback/loopback-place.ts'
import { NamespacesPlace } from '../places/namespaces/namespaces-place.ts'
import type { Place } from '../places/place.ts'
import { lacksRoot } from '../underlay/privileges.testkit.ts'
import { churn } from './churn.ts'
import { delays } from './delays.ts'
import type { Experiment, ExperimentOptions } from './experiment.ts'
import { loss } from './loss.ts'
import { propagation } from './propagation.ts'
import { redundancy } from './redundancy.ts'
import { runOnPlace } from './run-on-place.ts'

/** Real processes; on a busy machine they take their time. */
const timeout = 400_000

const nothing: Omit<ExperimentOptions, 'nodes'> = {
  ...{
    degree: undefined,
    overlay: 'random',
    links: 'mixed',
    repeats: undefined,
    messages: undefined,
    warmUp: 1,
    rate: undefined,
    dilation: undefined,
  },
}

async function run(
  experiment: Experiment,
  { sizes = [5], ...options }: Partial<ExperimentOptions> & { sizes?: readonly number[] },
  createPlace: () => Place,
) {
  const { signal } = new AbortController()
  return runOnPlace(
    { experiment, options: { ...nothing, ...options }, sizes, signal },
    { createPlace, onProgress: () => {} },
  )
}

const loopback = () => new LoopbackPlace()
const namespaces = () => new NamespacesPlace({ latency: 'aws', seed: 1 })
const complete = { missing: 0, undelivered: 0, untraced: 0 }

describe('on loopback', () => {
  it('every message comes to every node, in each of two overlays', { timeout }, async () => {
    const { rows, facts } = await run(propagation, { repeats: 2 }, loopback)
    expect(facts['place']).toBe('loopback')
    // Two messages of each to the four others; five nodes with four neighbours each have all the others.
    const row = { ...complete, expected: 40, overlayKept: true, minDegree: 4, maxDegree: 4 }
    expect(rows).toMatchObject([row, row])
  })

  it('the degree is what was asked for, and decides how many copies come', { timeout }, async () => {
    const { rows } = await run(redundancy, { sizes: [4, 6], degree: 3, links: 'websocket' }, loopback)
    expect(rows).toMatchObject([
      { ...complete, nodes: 4, degree: 3, expected: 12 },
      { ...complete, nodes: 6, degree: 3, expected: 30 },
    ])
    // A flood sends n·d − (n − 1) copies in all, of which n − 1 are the first, and the publisher gets some of the rest.
    for (const row of rows) expect(Number(row['duplicatesPerMessage'])).toBeLessThanOrEqual(2)
  })
})

describe.skipIf(lacksRoot)('in namespaces', () => {
  it(
    'messages take as long as the links, and as long as in the simulator at least',
    { timeout },
    async () => {
      const { rows, facts } = await run(propagation, { sizes: [6], links: 'webrtc', dilation: 2 }, namespaces)
      const [row] = rows
      expect(row).toMatchObject({ ...complete, expected: 60, overlayKept: true, dilation: 2 })
      // Processing comes on top, and how much depends on what else the machine does; less than the links take is impossible.
      const { meanMs, simulatedMeanMs, underlayMeanMs } = row as Record<string, number>
      expect(simulatedMeanMs).toBeGreaterThan(0.9 * Number(underlayMeanMs))
      expect(meanMs).toBeGreaterThan(0.98 * Number(simulatedMeanMs))
      expect(facts['emulator.queueFull']).toBe(0)
    },
  )

  it('nothing is lost on links that lose packets', { timeout }, async () => {
    const options = { sizes: [4], links: 'mixed', messages: 5 } as const
    const { rows } = await run(loss, options, namespaces)
    expect(rows.map(({ lossPercent }) => lossPercent)).toEqual([0, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5])
    for (const row of rows) expect(row).toMatchObject({ ...complete, expected: 60 })
  })

  it('all repeats and losses can have one overlay', { timeout }, async () => {
    const options = { sizes: [6], messages: 5, repeats: 2, losses: [0, 2], fixed: true } as const
    const { rows } = await run(loss, { ...options, links: 'websocket' }, namespaces)
    expect(rows.map(({ repeat, lossPercent }) => [repeat, lossPercent])).toEqual([
      [0, 0],
      [0, 2],
      [1, 0],
      [1, 2],
    ])
    for (const row of rows) expect(row).toMatchObject({ ...complete, expected: 150, overlayKept: true })
    expect(new Set(rows.map(({ simulatedMeanMs }) => simulatedMeanMs)).size).toBe(1)
  })

  it('nothing is lost when a node is killed amid messages and comes back', { timeout }, async () => {
    const { rows } = await run(churn, { sizes: [6], repeats: 1, messages: 200 }, namespaces)
    expect(rows).toMatchObject([{ killed: 1, killsPlanned: 1, missing: 0, undelivered: 0 }])
  })

  it('pings take what the table says', { timeout }, async () => {
    const { rows } = await run(delays, { sizes: [3] }, namespaces)
    const found = rows.map(({ from, to, failed }) => `${String(from)} ${String(to)} ${String(failed)}`)
    expect(found).toHaveLength(6)
    expect(new Set(found).size).toBe(6)
    for (const { oneWayMs, from, to } of rows) {
      expect([from, to, Number(oneWayMs) > 1]).toEqual([from, to, true])
    }
  })
})
