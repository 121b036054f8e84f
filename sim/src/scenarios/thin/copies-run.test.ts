import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../../latency/latency-model.ts'
import { runCopies } from './copies-run.ts'

const nodes = 16
const seed = '1'
const options = {
  ...{ seed, degree: 4, overlay: 'random' as const, rate: 10, seconds: 6, kills: false, thinFloods: true },
  model: createLatencyModel({ latency: 'aws', nodes, seed }),
}
const run = (changes: { readonly thinFloods?: boolean; readonly kills?: boolean }) =>
  runCopies({ ...options, ...changes }, () => {})

describe('floods of nodes that all publish', () => {
  it('bring each message about once where they are thin, and to everybody as soon as full ones do', async () => {
    const [thin, full] = [await run({}), await run({ thinFloods: false })]
    expect([thin.delivered, full.delivered]).toEqual([thin.expected, full.expected])
    expect(thin.copies).toBeLessThan(1.1)
    expect(full.copies).toBeGreaterThan(3)
    expect(thin.p99Ms).toBeLessThan(1.02 * full.p99Ms)
  })

  it('bring everything, the first of it a little late, when a node is lost without a word', async () => {
    const thin = await run({ kills: true })
    expect(thin.delivered).toBe(thin.expected)
    expect(thin.late).toBeGreaterThan(0)
    expect(thin.lateMaxMs).toBeLessThan(500)
  })
})
