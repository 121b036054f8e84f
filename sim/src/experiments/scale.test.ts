import { describe, expect, it } from 'vitest'
import type { ExperimentOptions } from './experiment.ts'
import { scale, scaleModel } from './scale.ts'

const options: ExperimentOptions = {
  nodes: 48,
  degree: 4,
  overlay: 'random',
  latency: 'aws',
  seed: '1',
  repeats: undefined,
}

describe.each([scale, scaleModel])('$name', (experiment) => {
  it('says what an overlay is like and costs', async () => {
    const { report, text, figures } = await experiment.run(options, () => {})
    expect(report).toMatchObject({ rows: [{ nodes: 48, complete: 48 }] })
    const [row] = (report as { rows: { rdp: number; hops: number; instructionsPerJoin: number }[] }).rows
    expect(row?.rdp).toBeGreaterThan(1.5)
    expect(row?.rdp).toBeLessThan(3)
    expect(row?.hops).toBeGreaterThanOrEqual(3)
    expect(row?.hops).toBeLessThanOrEqual(6)
    expect(row?.instructionsPerJoin).toBeGreaterThan(1)
    expect(text).toContain('RDP')
    expect(figures).toHaveLength(1)
  })

  it('finds nearer neighbours where the overlay is topology-aware', async () => {
    const { report } = await experiment.run({ ...options, overlay: 'topology-aware' }, () => {})
    const [row] = (report as { rows: { rdp: number; complete: number }[] }).rows
    expect(row?.rdp).toBeLessThan(1.5)
    expect(row?.complete).toBe(48)
  })

  it('finds them again when half of the nodes have been replaced', async () => {
    const { report } = await experiment.run({ ...options, overlay: 'topology-aware', replaced: 50 }, () => {})
    const [row] = (
      report as { rows: { rdpReplaced: number; convergedReplacedS: number; complete: number }[] }
    ).rows
    expect(row?.rdpReplaced).toBeLessThan(1.5)
    expect(row?.convergedReplacedS).toBeLessThan(300)
    expect(row?.complete).toBe(48)
  })
})
