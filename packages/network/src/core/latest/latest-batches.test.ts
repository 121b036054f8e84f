import { keyTagExtension, type MessageRef } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { networkLimits, type NetworkLimits } from '../../limits.ts'
import { batchAt, identityOf, packetOf, startMs } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { SharedBytes } from '../shared-bytes.ts'
import { LatestBatches } from './latest-batches.ts'

const tagOf = (key: number) => `0x${key.toString(16).padStart(2, '0').repeat(16)}`
const batch = (key: number | undefined, place: number | MessageRef, publisher = 7) =>
  batchAt([place], {
    publisher: identityOf(publisher),
    ...(key !== undefined && {
      extensions: [{ type: keyTagExtension, bytes: new Uint8Array(16).fill(key) }],
    }),
  })

function setUp(limits: Partial<NetworkLimits> = {}, keeps = true) {
  const { maxLatestBytesTotal } = { ...networkLimits, ...limits }
  const [shared, counters] = [new SharedBytes(maxLatestBytesTotal), newCounters()]
  const latest = new LatestBatches({ ...networkLimits, ...limits }, { shared, counters })
  latest.keeps = keeps
  const note = (one: ReturnType<typeof batch>, nowMs = 0) => latest.note(one, packetOf(one), nowMs)
  const found = (key?: number, nowMs = 0) =>
    latest.find(key === undefined ? undefined : tagOf(key), nowMs)?.messages[0]?.timestamp
  return { latest, shared, counters, note, found }
}

describe('the newest message of each key', () => {
  it('is told by its key, and the newest of all without one', () => {
    const { note, found } = setUp()
    for (const [key, at] of [[1, 10], [2, 20], [1, 30], [undefined, 40]] as const) note(batch(key, at)) // prettier-ignore
    expect([found(1), found(2), found(3), found()]).toEqual([30, 20, undefined, 40])
  })

  it('is the same whatever the order in which messages come, from any publishers', () => {
    const messages = [1, 2, 3].flatMap((at) => [7, 8].map((publisher) => batch(1, at, publisher)))
    const newest = messages.slice(-2).sort((a, b) => (a.chain.publisherId < b.chain.publisherId ? 1 : -1))[0]
    fc.assert(
      fc.property(fc.shuffledSubarray(messages, { minLength: messages.length }), (shuffled) => {
        const { latest, note } = setUp()
        for (const one of shuffled) note(one)
        expect(latest.find(tagOf(1), 0)?.bytes).toEqual(newest?.bytes)
      }),
      { numRuns: 30 },
    )
  })

  it('is kept once with its batch, however many keys are in that', () => {
    const { latest, shared, note } = setUp()
    note(batch(1, 10))
    expect([latest.keys, latest.bytes]).toEqual([2, packetOf(batch(1, 10)).length])
    note(batch(2, 20))
    note(batch(1, 30))
    expect([latest.keys, latest.bytes]).toEqual([3, 2 * packetOf(batch(1, 10)).length])
    latest.clear()
    expect([latest.keys, latest.bytes, shared.total]).toEqual([0, 0, 0])
  })

  it('goes when there are too many: those first that changed longest ago', () => {
    const { note, found, counters } = setUp({ maxLatestKeys: 4 })
    for (const key of [1, 2, 3]) note(batch(key, key))
    note(batch(1, 10))
    note(batch(4, 11))
    expect([1, 2, 3, 4].map((key) => found(key))).toEqual([10, undefined, 3, 11])
    expect(counters['latest.dropped']).toBe(1)
  })

  it.each(['maxLatestBytes', 'maxLatestBytesTotal'] as const)('never takes more than %s', (limit) => {
    const bytes = packetOf(batch(1, startMs)).length
    const { latest, shared, note, found } = setUp({ [limit]: 3 * bytes + 1 })
    for (let key = 0; key < 100; key++) note(batch(key, startMs + key))
    expect([latest.bytes, shared.total]).toEqual([3 * bytes, 3 * bytes])
    expect([96, 97, 99].map((key) => found(key))).toEqual([undefined, startMs + 97, startMs + 99])
  })

  it('is told for half a minute where the owner does not ask for more', () => {
    const { latest, note, found } = setUp({}, false)
    note(batch(1, 10), 1_000)
    note(batch(2, 20), 2_000)
    expect([found(1, 30_999), found(1, 31_000), found(2, 31_000)]).toEqual([10, undefined, 20])
    expect([found(undefined, 31_999), found(undefined, 32_000), latest.keys]).toEqual([20, undefined, 0])
  })
})
