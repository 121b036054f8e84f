import { compareRefs, type MessageRef } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ChainProgress, type ChainLink } from './chain-progress.ts'

const ref = (timestamp: number): MessageRef => ({ timestamp, sequenceNumber: 0 })
const link = (timestamp: number, previous?: number): ChainLink => ({
  ...ref(timestamp),
  previous: previous === undefined ? undefined : ref(previous),
})

function progress(limits: { maxMissingRanges?: number; chainLookBackMs?: number } = {}): ChainProgress {
  return new ChainProgress({ maxMissingRanges: 10_000, chainLookBackMs: 0, ...limits })
}

/** Looks up and then marks, as a verified message does. */
function take(chain: ChainProgress, message: ChainLink): boolean {
  const isNew = chain.isNew(message)
  if (isNew) chain.mark(message)
  return isNew
}

describe('the progress of a chain', () => {
  const table: { name: string; arrivals: [number, number?][]; expected: boolean[]; missing: number }[] = [
    { name: 'in order', arrivals: [[10], [20, 10], [30, 20]], expected: [true, true, true], missing: 0 },
    { name: 'a repeat', arrivals: [[10], [20, 10], [20, 10]], expected: [true, true, false], missing: 0 },
    { name: 'older than the first', arrivals: [[10], [5]], expected: [true, false], missing: 0 },
    { name: 'a gap', arrivals: [[10], [40, 30]], expected: [true, true], missing: 1 },
    { name: 'a gap filled', arrivals: [[10], [30, 20], [20, 10]], expected: [true, true, true], missing: 0 },
    {
      name: 'a gap filled in its middle is two',
      arrivals: [[10], [50, 40], [30, 20]],
      expected: [true, true, true],
      missing: 2,
    },
    {
      name: 'a gap shrunk from above',
      arrivals: [[10], [50, 40], [40, 30]],
      expected: [true, true, true],
      missing: 1,
    },
    {
      name: 'a gap shrunk from below',
      arrivals: [[10], [50, 40], [20, 10]],
      expected: [true, true, true],
      missing: 1,
    },
    {
      name: 'what lies between a message and its previous does not exist',
      arrivals: [[10], [50, 20], [30, 25]],
      expected: [true, true, false],
      missing: 1,
    },
    { name: 'a chain that starts again', arrivals: [[10], [20]], expected: [true, true], missing: 0 },
  ]
  for (const { name, arrivals, expected, missing } of table) {
    it(`handles ${name}`, () => {
      const chain = progress()
      expect(arrivals.map(([at, previous]) => take(chain, link(at, previous)))).toEqual(expected)
      expect(chain.missingRanges).toBe(missing)
    })
  }

  it('does not mark what is only looked up', () => {
    const chain = progress()
    expect([chain.isNew(ref(10)), chain.isNew(ref(10))]).toEqual([true, true])
    expect(chain.newest).toBeUndefined()
  })

  it('orders messages of one millisecond by sequence number', () => {
    const chain = progress()
    const at = (sequenceNumber: number): MessageRef => ({ timestamp: 10, sequenceNumber })
    chain.mark({ ...at(0), previous: undefined })
    chain.mark({ ...at(3), previous: at(2) })
    expect([0, 1, 2, 3, 4].map((n) => chain.isNew(at(n)))).toEqual([false, true, true, false, true])
  })

  it('takes messages a little older than the first it saw', () => {
    const chain = progress({ chainLookBackMs: 100 })
    expect(take(chain, link(1000, 990))).toBe(true)
    expect([take(chain, link(990, 980)), chain.isNew(ref(899)), chain.isNew(ref(950))]).toEqual([
      true,
      false,
      true,
    ])
  })

  it('drops the oldest missing ranges first and says how many', () => {
    const chain = progress({ maxMissingRanges: 3 })
    chain.mark(link(0))
    const dropped = [10, 20, 30, 40, 50].map((at) => chain.mark(link(at, at - 1)))
    expect(dropped).toEqual([0, 0, 0, 1, 1])
    expect(chain.missingRanges).toBe(3)
    expect([5, 15, 25, 45].map((at) => chain.isNew(ref(at)))).toEqual([false, false, true, true])
  })

  it('agrees with a set of all places, in any order of arrival', () => {
    const arrivals = fc
      .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 })
      .map((times) => times.sort((a, b) => a - b).map((at, i) => link(at, i === 0 ? 0 : times[i - 1])))
      .chain((chain) => fc.array(fc.constantFrom(...chain), { maxLength: 120 }))
    fc.assert(
      fc.property(arrivals, (messages) => {
        const chain = progress({ chainLookBackMs: 1000 })
        const seen: MessageRef[] = []
        for (const message of messages) {
          const isNew = !seen.some((place) => compareRefs(place, message) === 0)
          expect(take(chain, message)).toBe(isNew)
          if (isNew) seen.push(message)
        }
      }),
    )
  })
})
