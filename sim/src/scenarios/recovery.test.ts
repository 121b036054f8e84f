import { describe, expect, it } from 'vitest'
import { createLatencyModel } from '../latency/latency-model.ts'
import { runRecovery } from './recovery.ts'

/** Virtual seconds: what is promised. */
const promisedS = 20

const cases = (['random', 'topology-aware'] as const).flatMap((overlay) =>
  (['silent', 'closed'] as const).flatMap((death) => [
    // A region of sixteen, and three nodes of ten.
    { overlay, death, loss: 'a region', isLost: (index: number) => index % 16 === 3 },
    { overlay, death, loss: '30 % of all', isLost: (index: number) => (index * 7) % 10 < 3 },
  ]),
)

describe('an overlay that loses nodes at one instant', () => {
  it.each(cases)('is whole again soon ($overlay, $loss, $death)', async ({ overlay, death, isLost }) => {
    const seed = '1'
    const model = createLatencyModel({ latency: 'aws', nodes: 64, seed })
    const recovery = await runRecovery({
      seed,
      degree: 4,
      overlay,
      model,
      formingMs: 20_000,
      death,
      isLost,
    })
    expect(recovery.survivors).toBeLessThan(64)
    expect(recovery.recoveredAfterS).toBeLessThanOrEqual(promisedS)
  })
})
