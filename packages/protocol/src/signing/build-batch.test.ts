import { expect, it } from 'vitest'
import { encodePacket } from '../codec/packet-codec.ts'
import { decodeBatch } from '../messages/batch-codec.ts'
import { signedBatch } from '../verification/conformance.testkit.ts'
import type { BuiltBatch } from './build-batch.ts'

const flooded = (batch: BuiltBatch): Uint8Array => batch.packet

it('has the packet that carries a batch, and the batch as its receivers decode it', () => {
  for (const built of [signedBatch(1), signedBatch(64), signedBatch(3, 'delegate')]) {
    const batch = decodeBatch(built.bytes)
    expect(flooded(built)).toEqual(encodePacket({ type: 'data', batch }))
    expect({ ...built }).toEqual(batch)
    expect(built.bytes.buffer).toBe(built.packet.buffer)
  }
})

it('is nothing that came from elsewhere, nor a copy of one', () => {
  const built = signedBatch(1)
  // @ts-expect-error: decoded is not built
  expect(() => flooded(decodeBatch(built.bytes)).length).toThrow(TypeError)
  // @ts-expect-error: nor is what is spread
  expect(() => flooded({ ...built, bytes: new Uint8Array(1) }).length).toThrow(TypeError)
})
