import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { at, chainOf, times } from './batches.testkit.ts'
import { FoundChain } from './found-chain.ts'

describe('FoundChain', () => {
  it('is whole exactly when nothing of the gap is missing, in whatever order it was found', () => {
    const messages = chainOf(times(1, 20)).flatMap((batch) => batch.messages)
    fc.assert(
      fc.property(
        fc.shuffledSubarray(messages, { minLength: 15 }),
        fc.integer({ min: 0, max: 19 }),
        fc.integer({ min: 1, max: 20 }),
        (found, after, length) => {
          const upTo = Math.min(20, after + length)
          const chain = new FoundChain({ after: at(after), upTo: at(upTo) })
          chain.add(found)
          const has = new Set(found.map(({ timestamp }) => timestamp))
          expect(chain.isWhole).toBe(times(after + 1, upTo).every((time) => has.has(time)))
        },
      ),
    )
  })
})
