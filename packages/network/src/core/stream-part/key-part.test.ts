import { buildBatch, keyPartition, toStreamPartId, type MessageBatch } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { networkLimits } from '../../limits.ts'
import { crypto, idOf, startMs, streamId } from '../core.testkit.ts'
import { newCounters } from '../counter-names.ts'
import { SharedBytes } from '../shared-bytes.ts'
import { StreamPart } from './stream-part.ts'

const readers = 10_000

function openPart(partition: number) {
  const counters = newCounters()
  const part = new StreamPart(
    { id: toStreamPartId(streamId, partition), joinedMs: 0, limits: networkLimits },
    {
      counters,
      recentBytes: new SharedBytes(Infinity),
      latestBytes: new SharedBytes(Infinity),
      onGapLost: () => expect.unreachable(),
      rttOf: () => undefined,
      lateMs: () => 0,
      membershipToken: () => undefined,
      gone: () => {},
    },
  )
  return { counters, part }
}

/** One message, alone in its chain so far, or again in that chain; here nobody looks at signatures. */
function record(chain: number, timestamp: number, publisher = 7): MessageBatch {
  const message = { timestamp, sequenceNumber: 0, previous: undefined, content: new Uint8Array(1_300) }
  return buildBatch(
    {
      chain: { streamId, partition: keyPartition, publisherId: idOf(publisher), messageChainId: `l${chain}` },
      messages: [{ ...message, contentType: 0, encryptionType: 0, groupKeyId: '' }],
    },
    crypto,
    { sign: () => new Uint8Array(65) },
  )
}

describe('the key part', () => {
  it('remembers a record for each of 10,000 readers of one publisher, looks for none, and takes the next of each', () => {
    const { part, counters } = openPart(keyPartition)
    const records = Array.from({ length: readers }, (_, i) => record(i, startMs + i))
    for (const batch of records) expect(part.seen.mark(batch, undefined, startMs)).toHaveLength(1)
    expect(part.seen.chains).toBe(readers)
    expect(records.some((batch) => part.seen.hasNew(batch))).toBe(false)
    const next = Array.from({ length: readers }, (_, i) => record(i, startMs + 60_000 + i))
    expect(next.every((batch) => part.seen.refusalOf(batch, startMs + 60_000) === undefined)).toBe(true)
    for (const batch of next) expect(part.seen.mark(batch, undefined, startMs)).toHaveLength(1)
    expect(records.some((batch) => part.seen.hasNew(batch))).toBe(false)
    expect([part.gaps.ranges, part.gaps.chains.size, counters['dedup.chainsDropped']]).toEqual([0, 0, 0])
  })

  it('has the publisher with the most chains lose some when there are too many, and no other', () => {
    const { part, counters } = openPart(keyPartition)
    const other = record(0, startMs, 8)
    part.seen.mark(other, undefined, startMs)
    for (let i = 0; i < networkLimits.maxKeyChains + 9; i++)
      part.seen.mark(record(i, startMs + i), undefined, startMs + i)
    expect(part.seen.chains + counters['dedup.chainsDropped']).toBe(networkLimits.maxKeyChains + 10)
    expect(part.seen.chains).toBeGreaterThan(0.98 * networkLimits.maxKeyChains)
    expect(part.seen.find(other.chain)).toBeDefined()
  })

  it('alone remembers as many', () => {
    const { part } = openPart(0)
    for (let i = 0; i < networkLimits.maxChains + 9; i++)
      part.seen.mark(record(i, startMs + i), undefined, startMs + i)
    expect(part.seen.chains).toBeLessThanOrEqual(networkLimits.maxChains)
  })
})
