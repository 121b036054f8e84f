import { describe, expect, it } from 'vitest'
import { createIdentity } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { contradictionOf, isSameSignature, messageBytes, winsOver } from './equivocation.ts'

const crypto = await loadCrypto()
const identity = createIdentity(new Uint8Array(32).fill(7), crypto)

/** A signed batch of messages at these times, each with its own content. */
function batchOf(...messages: readonly (readonly [timestamp: number, content: number])[]) {
  const chain = {
    streamId: toStreamId(`0x${'a'.repeat(40)}/s`),
    partition: 0,
    publisherId: identity.nodeId,
    messageChainId: 'c',
  }
  const drafts = messages.map(([timestamp, content], i) => ({
    timestamp,
    sequenceNumber: 0,
    previous: i === 0 ? undefined : { timestamp: messages[i - 1]?.[0] ?? 0, sequenceNumber: 0 },
    contentType: 0,
    encryptionType: 0,
    groupKeyId: '',
    content: new Uint8Array([content]),
  }))
  return buildBatch({ chain, messages: drafts }, crypto, identity)
}

describe('two messages for one place', () => {
  it('have one winner, whoever asks and in whatever order', () => {
    const [low, high] = [batchOf([5, 1]), batchOf([5, 2])]
    expect(contradictionOf(low, high)).toEqual({
      place: { timestamp: 5, sequenceNumber: 0 },
      winner: low,
      loser: high,
    })
    expect(contradictionOf(high, low)?.winner).toBe(low)
    expect(winsOver(messageBytes(low, 0), messageBytes(high, 0))).toBe(true)
    expect(winsOver(messageBytes(high, 0), messageBytes(low, 0))).toBe(false)
    expect(winsOver(messageBytes(low, 0), messageBytes(low, 0))).toBe(false)
  })

  it('are found inside of longer batches, and the first place decides', () => {
    const a = batchOf([5, 1], [6, 9], [7, 1])
    const b = batchOf([4, 0], [6, 2], [7, 3])
    expect(contradictionOf(a, b)?.place).toEqual({ timestamp: 6, sequenceNumber: 0 })
    expect(contradictionOf(a, b)?.winner).toBe(contradictionOf(b, a)?.winner)
  })

  it('are not two when only the batches differ', () => {
    expect(contradictionOf(batchOf([5, 1]), batchOf([5, 1], [6, 1]))).toBeUndefined()
    expect(contradictionOf(batchOf([5, 1]), batchOf([6, 2]))).toBeUndefined()
  })

  it('never share a signature', () => {
    expect(isSameSignature(batchOf([5, 1]).bytes, batchOf([5, 1]).bytes)).toBe(true)
    expect(isSameSignature(batchOf([5, 1]).bytes, batchOf([5, 2]).bytes)).toBe(false)
  })
})
