import { compareRefs, type MessageRef, type MissingRange } from '@runnel/protocol'
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
  readonly unreachableRanges: MissingRange[] = []
  opened(): void {}
  split(): void {}
  closed({ fill }: OpenRange): void {
    if (fill !== undefined) this.closedFills.push(fill)
  }
  unreachable(_: ChainProgress, range: MissingRange): void {
    this.unreachableRanges.push(range)
  }
}

function progress(
  limits: { chainLookBackMs?: number; joinedMs?: number; maxGapReachMs?: number; floor?: MessageRef } = {},
  watch = new Watch(),
): ChainProgress {
  const chain = { streamId, partition: 0, publisherId: idOf(1), messageChainId: 'c' }
  const options = { chain, joinedMs: 0, maxGapReachMs: 1_000_000, chainLookBackMs: 0, ...limits }
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
      expect(chain.wanted.length).toBe(missing)
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

  it('takes nothing of a range that is dropped', () => {
    const chain = progress()
    chain.mark(link(0), 0)
    for (const at of [10, 20, 30]) chain.mark(link(at, at - 1), 0)
    for (const range of chain.wanted.slice(0, 2)) chain.drop(range)
    expect([5, 15, 25].map((at) => chain.isNew(ref(at)))).toEqual([false, false, true])
  })

  it('reaches back from a message no further than the limit, and says what it leaves', () => {
    const watch = new Watch()
    const chain = progress({ maxGapReachMs: 100 }, watch)
    chain.mark(link(10), 0)
    chain.mark(link(1_000, 990), 0)
    expect(chain.wanted.map(({ after, upTo }) => [after.timestamp, upTo.timestamp])).toEqual([[900, 990]])
    expect(watch.unreachableRanges).toEqual([{ after: ref(10), upTo: ref(900) }])
    chain.mark(link(5_000, 2_000), 0)
    expect(chain.wanted).toHaveLength(1)
    expect(watch.unreachableRanges.at(-1)).toEqual({ after: ref(1_000), upTo: ref(2_000) })
  })

  it('never looks for what was before time began', () => {
    const chain = progress({ chainLookBackMs: 100, joinedMs: 5_000 })
    chain.mark(link(1, 0), 9_000)
    expect([...chain.wanted, ...chain.late]).toEqual([])
    const later = progress({ chainLookBackMs: 100, joinedMs: 5_000 })
    later.mark(link(7, 5), 9_000)
    expect(later.wanted.map(({ after, upTo }) => [after.timestamp, upTo.timestamp])).toEqual([[0, 5]])
  })

  it('takes nothing up to where its chains were forgotten', () => {
    const chain = progress({ chainLookBackMs: 100, floor: ref(950) })
    expect([chain.isNew(ref(950)), chain.isNew(ref(951))]).toEqual([false, true])
    chain.mark(link(1_000, 990), 0)
    expect([chain.isNew(ref(950)), chain.isNew(ref(951))]).toEqual([false, true])
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
    for (const { fill } of chain.wanted) if (fill) fill.tries = 3
    chain.mark(link(30, 20), 8)
    expect(chain.wanted.map(({ fill }) => fill?.tries)).toEqual([3, 3])
    chain.mark(link(20, 10), 9)
    chain.mark(link(40, 30), 9)
    expect(watch.closedFills.map(({ openedMs }) => openedMs)).toEqual([7, 7])
  })

  it('takes what comes after it was given up, and no longer looks for it', () => {
    const chain = progress()
    chain.mark(link(10), 0)
    chain.mark(link(30, 20), 0)
    for (const range of [...chain.wanted]) chain.giveUp(range)
    expect([chain.isWanted(ref(20)), chain.isNew(ref(20))]).toEqual([false, true])
    chain.mark(link(15, 12), 0)
    expect(chain.late.map(({ after, upTo }) => [after.timestamp, upTo.timestamp])).toEqual([
      [10, 12],
      [15, 20],
    ])
  })

  it('has each part of a missing range denied for itself', () => {
    const chain = progress()
    for (const message of [link(10), link(90, 80)]) take(chain, message)
    const [whole] = chain.wanted
    if (whole?.fill !== undefined) whole.fill.denials = new Map([[idOf(2), 1]])
    take(chain, link(50, 40))
    const [before, after] = chain.wanted.map(({ fill }) => fill?.denials)
    before?.set(idOf(2), 2)
    expect(after).toEqual(new Map([[idOf(2), 1]]))
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
