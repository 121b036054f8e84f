import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../../latency/latency-model.ts'
import { placesFor, runChurn, type ChurnOptions } from './churn-run.ts'

const nodes = 32
const optionsFor = (rate: ChurnOptions['rate']): ChurnOptions => ({
  seed: '1',
  nodes,
  degree: 4,
  overlay: 'random',
  model: createLatencyModel({ latency: 'aws', nodes: placesFor(nodes, rate), seed: '1' }),
  rate,
})
const quietly = (): void => {}

describe('churn', () => {
  it('costs no survivor a message, and every degree is right again after each join and leave', async () => {
    const report = await runChurn(optionsFor(20), quietly)
    expect(report).toMatchObject({ joins: 6, leaves: 6, delivered: report.expected })
    expect(report.survivors).toBeGreaterThan(24)
    expect(report.recoveriesMs).toHaveLength(12)
    expect(report.recoveriesMs).not.toContain(null)
    expect(report.controlPerNodeMinute).toBeGreaterThan(1)
    expect(report.edgeChangesPerNodeMinute).toBeGreaterThan(0.5)
  })

  it('of half the nodes at once is mended', async () => {
    const report = await runChurn(optionsFor('half'), quietly)
    expect(report).toMatchObject({ joins: 0, leaves: 16, survivors: 16 })
    expect(report.recoveriesMs).toHaveLength(1)
    expect(report.recoveriesMs).not.toContain(null)
    expect(report.delivered / report.expected).toBeGreaterThan(0.9)
  })
})
