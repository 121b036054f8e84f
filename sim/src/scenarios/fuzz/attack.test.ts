import { describe, expect, it } from 'vitest'
import { describeBreach } from '../../cli/fuzz-command.ts'
import { attackedWorlds } from './attack-plan.ts'
import { runSeeds, runTwice } from './worlds.ts'

describe('worlds in which somebody does harm with what its keys allow', () => {
  it.each(attackedWorlds)('keep what must always hold: %s', { timeout: 300_000 }, async (world) => {
    const reports = await runSeeds({ world, from: 1, seeds: 12 })
    expect(reports.filter(({ breach }) => breach !== null).map(describeBreach)).toEqual([])
    for (const { given, floodsChecked } of reports) expect(Math.min(given, floodsChecked)).toBeGreaterThan(0)
  })

  it('may have attackers that send each other what cannot be read', async () => {
    const [report] = await runSeeds({ world: 'members', from: 882_958, seeds: 1 })
    expect(report?.breach).toBeNull()
  })

  it.each(attackedWorlds)('are the same for the same seed: %s', async (world) => {
    const [once, again] = [await runTwice(world, '13', false), await runTwice(world, '13', false)]
    expect(again).toEqual(once)
  })
})
