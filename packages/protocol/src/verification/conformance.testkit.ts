import { expect, it } from 'vitest'
import { createIdentity, generatePrivateKey } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { delegationRef } from '../delegation/check-delegation.ts'
import { toStreamId } from '../ids/stream-id.ts'
import type { MessageBatch } from '../messages/stream-message.ts'
import { seededRandom } from '../random/seeded-random.ts'
import { verifyBatch } from '../signing/batch-signature.ts'
import { buildBatch, type BuiltBatch } from '../signing/build-batch.ts'
import type { VerificationPool } from './verification-pool.ts'

export const crypto = await loadCrypto()
const random = seededRandom('verification')
export const publisher = createIdentity(generatePrivateKey(random), crypto)
const delegate = createIdentity(generatePrivateKey(random), crypto)
const ref = delegationRef(Uint8Array.of(1), crypto)

/** A batch of the publisher, or of its delegate. */
export function signedBatch(messages: number, by: 'publisher' | 'delegate' = 'publisher'): BuiltBatch {
  const streamId = toStreamId(`${publisher.nodeId}/verification`)
  const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: 'test' }
  const at = (sequenceNumber: number) => ({ timestamp: 1_000, sequenceNumber })
  const drafts = Array.from({ length: messages }, (_, i) => ({
    ...{ ...at(i), previous: i === 0 ? undefined : at(i - 1), contentType: 0, encryptionType: 0 },
    ...{ groupKeyId: '', content: random.bytes(40) },
  }))
  const signer = by === 'publisher' ? publisher : { sign: delegate.sign, delegationRef: ref }
  return buildBatch({ chain, messages: drafts }, crypto, signer)
}

/** The same batch with another content, which nobody signed. */
export function forgedBatch(): MessageBatch {
  const batch = signedBatch(1)
  const at = (batch.messageOffsets[1] ?? 0) - 1
  batch.bytes[at] = (batch.bytes[at] ?? 0) ^ 1
  return batch
}

/** Asks until it is taken: workers take some time to be ready. */
export async function verdictOf(
  pool: VerificationPool,
  batch: MessageBatch,
  signerId = publisher.nodeId,
): Promise<boolean | undefined> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>()
    if (pool.verify(batch, signerId, resolve)) return promise
    await new Promise((again) => setImmediate(again))
  }
}

/** What every pool must do. */
export function itIsAVerificationPool(open: () => VerificationPool): void {
  it('says what verifying on this thread says', async () => {
    const pool = open()
    const cases = [
      [signedBatch(1), publisher.nodeId],
      [signedBatch(64), publisher.nodeId],
      [signedBatch(1), delegate.nodeId],
      [signedBatch(3, 'delegate'), delegate.nodeId],
      [signedBatch(3, 'delegate'), publisher.nodeId],
      [forgedBatch(), publisher.nodeId],
    ] as const
    const verdicts = await Promise.all(cases.map(([batch, signerId]) => verdictOf(pool, batch, signerId)))
    expect(verdicts).toEqual([true, true, false, true, false, false])
    expect(verdicts).toEqual(cases.map(([batch, signerId]) => verifyBatch(batch, crypto, signerId)))
    pool.stop()
  })

  it('answers for each batch once, and leaves its bytes alone', async () => {
    const pool = open()
    await verdictOf(pool, signedBatch(1))
    const batches = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? forgedBatch() : signedBatch(1)))
    const before = batches.map(({ bytes }) => bytes.slice())
    expect(await Promise.all(batches.map((batch) => verdictOf(pool, batch)))).toEqual(
      batches.map((_, i) => i % 3 !== 0),
    )
    expect(batches.map(({ bytes }) => bytes)).toEqual(before)
    pool.stop()
  })

  it('takes nothing once it is stopped, and answers for what it had taken', async () => {
    const pool = open()
    await verdictOf(pool, signedBatch(1))
    const last = verdictOf(pool, signedBatch(1))
    pool.stop()
    pool.stop()
    expect([true, undefined]).toContain(await last)
    expect(pool.verify(signedBatch(1), publisher.nodeId, () => expect.unreachable())).toBe(false)
  })
}
