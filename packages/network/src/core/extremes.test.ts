import { encodePacket, limits as wireLimits, type MessageRef, type Packet } from '@runnel/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  attach,
  batchAt,
  closed,
  control,
  CoreScript,
  data,
  identityOf,
  idOf,
  instruct,
  join,
  opened,
  packetOf,
  partId,
  publish,
  startMs,
} from './core.testkit.ts'
import type { OverlayEvent } from './events.ts'

/** The largest time and the largest sequence number that the wire has. */
const maxMs = 2 ** 48 - 1
const maxSequence = 2 ** 32 - 1

const timesAround = (middle: number): number[] => [middle - 1, middle, middle + 1, middle + 300_000]
const time = fc.constantFrom(0, 1, 2, maxMs - 1, maxMs, ...timesAround(startMs))
const sequence = fc.constantFrom(0, 1, maxSequence - 1, maxSequence)
const place: fc.Arbitrary<MessageRef> = fc.record({ timestamp: time, sequenceNumber: sequence })
const chainId = fc.constantFrom('', 'a', 'b'.repeat(wireLimits.maxMessageChainIdBytes))
const peer = fc.constantFrom(2, 3, 4)
const u32 = fc.constantFrom(0, 1, 2, maxSequence - 1, maxSequence)
const key = { publisherId: identityOf(7).nodeId }

const compare = (a: MessageRef, b: MessageRef) =>
  a.timestamp - b.timestamp || a.sequenceNumber - b.sequenceNumber

const ascending = (places: readonly MessageRef[]): MessageRef[] =>
  places.toSorted(compare).filter((ref, i, all) => i === 0 || compare(ref, all[i - 1] as MessageRef) !== 0)

/** What is well-formed on the wire, however odd. */
const batch = fc
  .record({ places: fc.array(place, { minLength: 1, maxLength: 4 }), chainId, hasPrevious: fc.boolean() })
  .map(({ places, chainId: id, hasPrevious }) => {
    const sorted = ascending(places)
    const previous = hasPrevious && sorted.length > 1 ? sorted.shift() : undefined
    const [first] = sorted as [MessageRef, ...MessageRef[]]
    const together = sorted.filter(
      ({ timestamp }) => timestamp - first.timestamp <= wireLimits.maxBatchSpanMs,
    )
    return batchAt(together, { chainId: id, ...(previous === undefined ? {} : { previous }) })
  })

const ranges = fc
  .array(place, { minLength: 4, maxLength: 8 })
  .map(ascending)
  .filter((sorted) => sorted.length > 1)
  .map((sorted) =>
    sorted.flatMap((after, i) => {
      const upTo = sorted[i + 1]
      return i % 2 === 0 && upTo !== undefined ? [{ after, upTo }] : []
    }),
  )
const heads = fc.array(
  fc.record({ chainId, place }).map((head) => ({ ...key, messageChainId: head.chainId, ...head.place })),
  { maxLength: 3 },
)

const event: fc.Arbitrary<OverlayEvent | { readonly type: 'later'; readonly ms: number }> = fc.oneof(
  fc.tuple(peer, batch).map(([from, some]) => data(from, some)),
  fc.tuple(peer, batch).map(([from, some]) => data(from, some)),
  batch.map((some) => publish(some)),
  batch.map((some) => ({ type: 'archived', batch: some, packet: packetOf(some) }) as const),
  fc.tuple(chainId, ranges).map(([messageChainId, some]) => {
    const chain = { ...batchAt([startMs]).chain, messageChainId }
    const [range] = some as [(typeof some)[0], ...typeof some]
    return { type: 'archiveEnded', gap: { streamPartId: partId, chain, ...range } } as const
  }),
  fc
    .tuple(peer, u32, chainId, ranges)
    .map(([from, requestId, messageChainId, some]) =>
      control(from, { type: 'fetch', requestId, streamPartId: partId, ...key, messageChainId, ranges: some }),
    ),
  fc
    .tuple(peer, u32, fc.boolean())
    .map(([from, requestId, complete]) => control(from, { type: 'fetched', requestId, complete })),
  fc
    .tuple(peer, heads)
    .map(([from, some]) => control(from, { type: 'heads', streamPartId: partId, heads: some })),
  fc
    .tuple(peer, fc.constantFrom(0, 1, maxSequence, Number.MAX_SAFE_INTEGER), heads)
    .map(([from, sinceMs, some]) => attach(from, sinceMs, some)),
  fc
    .constantFrom(0, 1, 2, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER)
    .map((counter) => instruct(counter, 2, 3, 4)),
  peer.map((one) => closed(one)),
  peer.map((one) => opened(one)),
  fc.constant(join),
  fc.constantFrom(-3_600_000, 0, 1, 50, 5_000, 100_000).map((ms) => ({ type: 'later', ms }) as const),
)

describe('the largest and the smallest of everything that the wire can say', () => {
  /** Everything that goes out can be sent. */
  function checkSent(script: CoreScript): void {
    for (const packet of script.sent.splice(0)) encodePacket(packet)
    const status = script.core.takeStatus(partId, script.nowMs)
    if (status !== undefined) encodePacket(status)
    for (const { after, upTo } of [...script.archiveGaps.splice(0), ...script.lostGaps.splice(0)]) {
      const selection = { kind: 'range', from: after, to: upTo } as const
      const resend = {
        type: 'resend',
        requestId: 1,
        streamPartId: partId,
        selection,
        windowBytes: 0,
      } as const
      encodePacket({ ...resend, publisherId: idOf(1), messageChainId: '', token: undefined } satisfies Packet)
    }
  }

  const clocks = [startMs, 1, 400_000, maxMs - 200_000]
  it.each(clocks)('throws nothing, and makes nothing that cannot be sent, at the time %d', (wallMs) => {
    const run = fc.record({
      events: fc.array(event, { minLength: 1, maxLength: 40 }),
      maxLiveAgeMs: fc.constantFrom(600_000, 2 ** 50),
      maxGapReachMs: fc.constantFrom(0, 86_400_000, 2 ** 50),
    })
    fc.assert(
      fc.property(run, ({ events, ...limits }) => {
        const script = new CoreScript({ ...limits, maxMissingRanges: 8, maxChains: 2 }, { hasArchive: true })
        script.wallAheadMs = wallMs - script.nowMs
        script.withNeighbours(2, 3, 4)
        for (const one of events) {
          if (one.type !== 'later') script.run(one)
          else if (one.ms < 0) script.wallAheadMs += Math.max(one.ms, -script.wallMs)
          else script.pass(one.ms)
          checkSent(script)
          expect(script.core.dueMs).not.toBeNaN()
        }
      }),
      { numRuns: 150 },
    )
  })

  it('a message of the first millisecond that names one before it asks for nothing that cannot be', () => {
    const script = new CoreScript({ maxLiveAgeMs: 2 ** 50 }, { hasArchive: true }).withNeighbours(2, 3)
    script.pass(3_600_000)
    const previous = { timestamp: 0, sequenceNumber: 7 }
    script.run(data(2, batchAt([{ timestamp: 1, sequenceNumber: 0 }], { previous })))
    script.pass(60_000)
    const fetches = script.sent.flatMap((packet) => (packet.type === 'fetch' ? packet.ranges : []))
    expect(fetches[0]).toEqual({ after: { timestamp: 0, sequenceNumber: 0 }, upTo: previous })
    checkSent(script)
  })
})
