import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../../latency/latency-model.ts'
import { runAttack, type AttackOptions } from './attack-run.ts'

const nodes = 40
const attackers = 6
const options: AttackOptions = {
  seed: '1',
  attack: 'hub',
  nodes,
  attackers,
  degree: 4,
  overlay: 'random',
  model: createLatencyModel({ latency: 'aws', nodes: nodes + attackers, seed: '1' }),
  fillGaps: true,
}
const quietly = (): void => {}

describe('attackers', () => {
  it('that seek every edge they can get, and leave at once, cost nobody a message', async () => {
    const report = await runAttack(options, quietly)
    expect(report).toMatchObject({ complete: nodes, missed: 0 })
    // They do get more edges than others while they ask for them, and no node has none but those.
    expect(report.edgesPerAttacker).toBeGreaterThan(4)
  })

  it('that drop all data are felt where they are most of the nodes, and not where they are few', async () => {
    const many = await runAttack({ ...options, attack: 'drop', nodes: 16, attackers: 24 }, quietly)
    expect(many.edgesPerAttacker).toBeLessThanOrEqual(4)
    expect(many.missed).toBeGreaterThan(0)
    expect(many.complete).toBeLessThan(16)
    const few = await runAttack({ ...options, attack: 'drop', nodes: 37, attackers: 3 }, quietly)
    expect(few.missed).toBe(0)
  })
})
