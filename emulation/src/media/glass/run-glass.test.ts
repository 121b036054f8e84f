import { describe, expect, it } from 'vitest'
import { lacksRoot } from '../../underlay/privileges.testkit.ts'
import { createUnderlay } from '../../underlay/underlay.ts'
import { glassArms } from './glass-plan.ts'
import { runGlass } from './run-glass.ts'

const options = {
  ...{ watching: 1, sites: ['eu-central-1', 'eu-west-3'], relaySite: 'eu-west-2' },
  ...{ lossPercent: 0, measureMs: 3_000, seed: 1 },
}

describe.skipIf(lacksRoot)('a room of pages', () => {
  it.each(glassArms)('shows and plays what another page does: %s', { timeout: 200_000 }, async (arm) => {
    const row = await runGlass({ ...options, arm }, createUnderlay('aws'), new AbortController().signal)
    expect(row).toMatchObject({ arm, watching: 1 })
    expect(Number(row['clicksHeard'])).toBeGreaterThan(0)
    // No picture is there sooner than the network can be.
    expect(Number(row['pictureP50Ms'])).toBeGreaterThan(Number(row['networkMs']))
    expect(Number(row['soundP50Ms'])).toBeGreaterThan(Number(row['networkMs']))
  })
})
