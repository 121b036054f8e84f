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
    // Nothing is there sooner than the network can be. Both came before it was measured; on a busy machine who watches may give pictures up again.
    expect(Number(row['soundP50Ms'])).toBeGreaterThan(Number(row['networkMs']))
    expect(row['pictureP50Ms'] ?? Infinity).toBeGreaterThan(Number(row['networkMs']))
  })
})
