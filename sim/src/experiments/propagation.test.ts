import { overlayStrategies } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import type { PropagationRow } from '../scenarios/repeated-propagation.ts'
import { compare } from './compare.ts'
import type { ExperimentOptions } from './experiment.ts'
import { propagation } from './propagation.ts'
import { redundancy } from './redundancy.ts'

const options: ExperimentOptions = {
  nodes: 32,
  degree: 4,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: 1,
}
const quietly = (): void => {}

describe('propagation', () => {
  it('measures what messages take and what was predicted, and the same for the same seed', async () => {
    const { report, text, figures } = await propagation.run({ ...options, nodes: 64 }, quietly)
    expect(report).toMatchObject({
      nodes: 64,
      overlay: 'random',
      minDegree: 4,
      maxDegree: 4,
      connected: true,
      connectedThroughout: true,
      wrongLooks: 0,
      minAttached: 4,
      maxAttached: 4,
      missing: 0,
      published: { meanMs: 161, estimatedMeanMs: 159 },
      publishedWebSocket: { meanMs: 157, minMs: 147, maxMs: 172, estimatedMeanMs: 150 },
      // Too few nodes for paths of 25 hops.
      longPathMeanMs: null,
    })
    const row = report as unknown as PropagationRow
    expect(row.meanMs).toBeGreaterThan(135)
    expect(row.meanMs).toBeLessThan(185)
    expect(row.mapePercent).toBeLessThan(1)
    expect(row.predictionMapePercent).toBeLessThan(1)
    expect(Math.abs(row.estimatedMeanMs / row.meanMs - 1)).toBeLessThan(0.05)
    expect(row.rdp).toBeGreaterThan(1.8)
    expect(row.p99Ms).toBeGreaterThan(row.meanMs)
    expect(row.maxHops).toBeGreaterThan(row.meanHops)
    expect(row.convergedAfterS).toBeLessThan(20)
    expect(text).toContain(String(row.meanMs))
    expect(figures.map(({ name }) => name.slice(0, 10))).toEqual(
      [5.6, 5.7, 5.8, 5.9].map((n) => `figure-${n}`),
    )
    expect((await propagation.run({ ...options, nodes: 64 }, quietly)).report).toEqual(report)
    const other = await propagation.run({ ...options, nodes: 64, seed: '2' }, quietly)
    expect((other.report as PropagationRow).traceHashes).not.toEqual(row.traceHashes)
  })

  it('finds topology-aware overlays quicker than random ones', async () => {
    const [random, aware] = await Promise.all(
      (['random', 'topology-aware'] as const).map(async (overlay) => {
        const { report } = await propagation.run({ ...options, nodes: 64, overlay }, quietly)
        return report as PropagationRow
      }),
    )
    expect(aware?.rdp).toBeLessThan(0.8 * (random?.rdp ?? 0))
    expect(aware).toMatchObject({ minDegree: 4, maxDegree: 4, connectedThroughout: true, missing: 0 })
    expect(aware?.looks).toBeGreaterThan(400)
    expect(aware?.rdp).toBeLessThan(1.35)
    expect(aware?.predictionMapePercent).toBeLessThan(1)
  })
})

describe('redundancy', () => {
  it('is about d - 2', async () => {
    const { report } = await redundancy.run({ ...options, degree: 6 }, quietly)
    const { rows } = report as { rows: { degree: number; duplicatesPerMessage: number }[] }
    expect(rows).toHaveLength(1)
    expect(Math.abs((rows[0]?.duplicatesPerMessage ?? 0) - 4)).toBeLessThan(0.3)
  })
})

describe('compare', () => {
  it('puts our overlays beside those in the literature', async () => {
    const { report, text } = await compare.run(options, quietly)
    type Rows = { overlay: string; edges: number }[]
    const { rows, departures } = report as { rows: Rows; departures: Rows }
    expect(new Set(rows.map(({ overlay }) => overlay))).toEqual(new Set(overlayStrategies))
    // Each of the four who lost a neighbour gets another one.
    expect(departures.every(({ edges }) => edges >= 4)).toBe(true)
    expect(text).toContain('Pastry')
  })
})
