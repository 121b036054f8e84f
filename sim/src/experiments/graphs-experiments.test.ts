import { describe, expect, it } from 'vitest'
import { diameter, diameterBounds } from './diameter.ts'
import type { ExperimentOptions } from './experiment.ts'
import { matrix, measureCounts } from './matrix.ts'

const options: ExperimentOptions = {
  nodes: 60,
  degree: 4,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: 400,
}

describe('matrix', () => {
  it('finds all pairs equally likely, the first that join too, and the same for the same seed', async () => {
    const { report } = await matrix.run(options, () => {})
    expect(report).toMatchObject({ nodes: 60, exactEdgeProbability: 4 / 59 })
    const measures = report as ReturnType<typeof measureCounts>
    expect(measures.meanEdgeProbability).toBeCloseTo(4 / 59, 12)
    expect(measures.pValue).toBeGreaterThan(0.001)
    expect(Math.abs(measures.firstJoinersDeviations)).toBeLessThan(4)
    expect(measures.distribution.reduce((sum, pairs) => sum + pairs)).toBe((60 * 59) / 2)
    expect((await matrix.run(options, () => {})).report).toEqual(report)
  })

  it.each([5, 1_000_000])('refuses %d nodes: no pair may be left out, or too many pairs', async (nodes) => {
    await expect(matrix.run({ ...options, nodes }, () => {})).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
  })

  it('sees when some pairs are likelier than others', () => {
    const nodes = 60
    const counts = new Uint32Array(nodes * nodes)
    // Always the same graph: a ring in which each node knows two on each side.
    for (let a = 0; a < nodes; a++)
      for (const step of [1, 2, nodes - 1, nodes - 2]) counts[a * nodes + ((a + step) % nodes)] = 400
    const measures = measureCounts({ counts, nodes, degree: 4, repeats: 400 })
    expect(measures.meanEdgeProbability).toBeCloseTo(4 / 59, 12)
    expect(measures.pValue).toBeLessThan(1e-6)
    expect(measures.firstJoinersDeviations).toBeGreaterThan(4)
  })
})

describe('diameter', () => {
  it('computes equation 5.2', () => {
    expect(diameterBounds(1000, 4)).toEqual({ lower: 6, upper: 11 })
  })

  it('measures within it', async () => {
    const { report } = await diameter.run({ ...options, nodes: 1000, repeats: 2 }, () => {})
    const { rows } = report as { rows: { diameter: number; lowerBound: number; upperBound: number }[] }
    expect(rows).toHaveLength(1)
    expect(rows[0]?.diameter).toBeGreaterThanOrEqual(rows[0]?.lowerBound ?? Infinity)
    expect(rows[0]?.diameter).toBeLessThanOrEqual(rows[0]?.upperBound ?? 0)
  })
})
