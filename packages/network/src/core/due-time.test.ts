import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { attach, batchAt, closed, CoreScript, data, idOf, join, opened, startMs } from './core.testkit.ts'
import type { OverlayEvent } from './events.ts'

/** Changes nothing, and has the time looked for in everything. */
const look: OverlayEvent = { type: 'unknownAlias', peerId: idOf(2) }
const places = Array.from({ length: 12 }, (_, i) => startMs + i)
const batches = places.map((place, i) =>
  batchAt([place], { previous: i === 0 ? undefined : { timestamp: startMs + i - 1, sequenceNumber: 0 } }),
)

describe('the time of the next tick', () => {
  it('is Infinity while nothing is to be done', () => {
    const script = new CoreScript()
    expect(script.core.dueMs).toBe(Infinity)
    script.run(opened(2), closed(2))
    expect(script.core.dueMs).toBe(Infinity)
  })

  it('is after frequent events no later than a look at everything says', () => {
    const step = fc.record({
      n: fc.nat(batches.length - 1),
      peer: fc.constantFrom(2, 3),
      afterMs: fc.nat(400),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), fc.boolean(), (steps, takesStatus) => {
        const script = new CoreScript().withNeighbours(2, 3)
        for (const { n, peer, afterMs } of steps) {
          script.pass(afterMs)
          script.run(data(peer, batches[n] ?? expect.unreachable()))
          if (takesStatus) script.status()
          const { dueMs } = script.core
          script.run(look)
          expect(dueMs).toBeLessThanOrEqual(script.core.dueMs)
        }
      }),
      { numRuns: 50 },
    )
  })

  it('is brought forward by what an attach has due', () => {
    const script = new CoreScript()
    script.run(join, opened(2), attach(2))
    expect(script.core.dueMs).toBeLessThan(Infinity)
  })
})
