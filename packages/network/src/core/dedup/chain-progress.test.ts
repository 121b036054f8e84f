import { compareRefs, type MessageRef } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idOf, streamId } from '../core.testkit.ts'
import {
  ChainProgress,
  type ChainLink,
  type Fill,
  type OpenRange,
  type RangeWatch,
} from './chain-progress.ts'

const ref = (timestamp: number): MessageRef => ({ timestamp, sequenceNumber: 0 })
const link = (timestamp: number, previous?: number): ChainLink => ({
  ...ref(timestamp),
  previous: previous === undefined ? undefined : ref(previous),
})

class Watch implements RangeWatch {
  readonly closedFills: Fill[] = []
  readonly droppedRanges: OpenRange[] = []
  opened(_: ChainProgress, openedMs: number): Fill {
    return {
      openedMs,
      dueMs: openedMs,
      tries: 0,
      denials: undefined,
      requestId: 0,
      archive: 'unasked',
      isFed: false,
    }
  }
  closed(fill: Fill): void {
    this.closedFills.push(fill)
  }
  dropped(_: ChainProgress, range: OpenRange): void {
    this.droppedRanges.push(range)
  }
}

function progress(
  limits: { maxMissingRanges?: number; chainLookBackMs?: number; joinedMs?: number } = {},
  watch = new Watch(),
): ChainProgress {
  const chain = { streamId, partition: 0, publisherId: idOf(1), messageChainId: 'c' }
  const options = { chain, joinedMs: 0, maxMissingRanges: 10_000, chainLookBackMs: 0, ...limits }
  return new ChainProgress(options, watch)
}

/** Looks up and then marks, as a verified message does. */
function take(chain: ChainProgress, message: ChainLink): boolean {
  const isNew = chain.isNew(message)
  if (isNew) chain.mark(message, 0)
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
      expect(chain.missing.length).toBe(missing)
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
    chain.mark({ ...at(0), previous: undefined }, 0)
    chain.mark({ ...at(3), previous: at(2) }, 0)
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

  it('drops the oldest missing ranges first and says which', () => {
    const watch = new Watch()
    const chain = progress({ maxMissingRanges: 3 }, watch)
    chain.mark(link(0), 0)
    for (const at of [10, 20, 30, 40, 50]) chain.mark(link(at, at - 1), 0)
    expect(watch.droppedRanges.map(({ upTo }) => upTo.timestamp)).toEqual([9, 19])
    expect(chain.missing).toHaveLength(3)
    expect([5, 15, 25, 45].map((at) => chain.isNew(ref(at)))).toEqual([false, false, true, true])
  })

  it('looks for what was published since the join, by the clock of the publisher, and takes what is older', () => {
    const chain = progress({ joinedMs: 5_000, chainLookBackMs: 10_000 })
    // Half a second after the join; the publisher's clock is far behind.
    chain.mark(link(1_000, 990), 5_500)
    expect([400, 501, 990].map((at) => [chain.isNew(ref(at)), chain.isWanted(ref(at))])).toEqual([
      [true, false],
      [true, true],
      [true, true],
    ])
    const older = progress({ joinedMs: 5_000, chainLookBackMs: 10_000 })
    older.mark(link(1_000, 400), 5_500)
    expect([older.isNew(ref(400)), older.isWanted(ref(400))]).toEqual([true, false])
  })

  it('says when a range is closed, and keeps what is known of its parts', () => {
    const watch = new Watch()
    const chain = progress({}, watch)
    chain.mark(link(10), 0)
    chain.mark(link(50, 40), 7)
    for (const { fill } of chain.missing) if (fill) fill.tries = 3
    chain.mark(link(30, 20), 8)
    expect(chain.missing.map(({ fill }) => fill?.tries)).toEqual([3, 3])
    chain.mark(link(20, 10), 9)
    chain.mark(link(40, 30), 9)
    expect(watch.closedFills.map(({ openedMs }) => openedMs)).toEqual([7, 7])
  })

  it('takes what comes after it was given up, and no longer looks for it', () => {
    const chain = progress()
    chain.mark(link(10), 0)
    chain.mark(link(30, 20), 0)
    expect(chain.giveUp(() => true).map(({ upTo }) => upTo.timestamp)).toEqual([20])
    expect([chain.isWanted(ref(20)), chain.isNew(ref(20))]).toEqual([false, true])
    expect(chain.giveUp(() => true)).toEqual([])
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
