import { toNodeId, type MessageBatch } from '@runnel/protocol'
import { describe, expect, it } from 'vitest'
import { maxMeasuredMessages, MeasurementLog } from './measurement-log.ts'

const publisherId = toNodeId(`0x${'a'.repeat(40)}`)

/** As much of a batch as a log looks at. */
function batchAt(timestamps: readonly number[]): MessageBatch {
  const chain = { streamId: `${publisherId}/x`, partition: 0, publisherId, messageChainId: 'c' }
  const messages = timestamps.map((timestamp) => ({ timestamp, sequenceNumber: 0 }))
  return { chain, messages } as unknown as MessageBatch
}

describe('MeasurementLog', () => {
  it('remembers age, hops and copies of each message', () => {
    const log = new MeasurementLog()
    log.accepted(batchAt([100, 101]), { ageMs: 12.5, hops: 2 }, 120)
    log.duplicate(batchAt([100, 101]))
    log.duplicate(batchAt([100]))
    // New in part only: what was there already is a copy.
    log.accepted(batchAt([101, 102]), undefined, 130)
    const message = { publisherId, sequenceNumber: 0, ageMs: 12.5, hops: 2 }
    expect(log.messages).toEqual([
      { ...message, timestamp: 100, wallAgeMs: 20, duplicates: 2 },
      { ...message, timestamp: 101, wallAgeMs: 19, duplicates: 2 },
      { ...message, timestamp: 102, wallAgeMs: 28, ageMs: null, hops: null, duplicates: 0 },
    ])
    log.duplicate(batchAt([7]))
    expect(log.messages).toHaveLength(3)
    log.clear()
    expect(log.messages).toEqual([])
  })

  it('remembers a bounded number, and counts the rest', () => {
    const log = new MeasurementLog()
    const all = Array.from({ length: maxMeasuredMessages + 3 }, (_, index) => index)
    log.accepted(batchAt(all), { ageMs: 1, hops: 1 }, 0)
    expect([log.messages.length, log.dropped]).toEqual([maxMeasuredMessages, 3])
    log.clear()
    expect(log.dropped).toBe(0)
  })
})
