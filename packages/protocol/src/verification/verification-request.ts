import { Reader } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { delegationRefBytes, refOfBytes } from '../delegation/delegation-ref.ts'
import { nodeIdFromBytes, nodeIdToBytes, type NodeId } from '../ids/node-id.ts'
import { signatureBytes } from '../messages/batch-codec.ts'
import type { Crypto } from '../ports.ts'
import { isBatchSignedBy, type SignedBatch } from '../signing/batch-signature.ts'

/** One batch of a request, and who has to have signed it. */
export interface SignatureToCheck {
  readonly batch: SignedBatch
  readonly signerId: NodeId
}

const addressBytes = 20
const writer = new Writer()

/**
 * Batches in one piece, for a worker of the same program: for each the signer, where what is hashed begins and ends, and its bytes. The worker
 * need not take batches apart again.
 */
export function encodeVerificationRequest(checks: readonly SignatureToCheck[]): Uint8Array<ArrayBuffer> {
  writer.reset()
  for (const { batch, signerId } of checks) {
    writer.raw(nodeIdToBytes(signerId))
    writer.u8(batch.delegationRef === undefined ? 0 : 1)
    writer.u32(batch.headerEnd)
    writer.u16(batch.messageOffsets.length)
    for (const offset of batch.messageOffsets) writer.u32(offset)
    writer.u32(batch.bytes.length)
    writer.raw(batch.bytes)
  }
  return writer.view().slice()
}

/** The verdicts on a request in its order: 1 where the signer signed, else 0. */
export function answerVerificationRequest(request: Uint8Array, crypto: Crypto): Uint8Array<ArrayBuffer> {
  const reader = new Reader(request)
  const verdicts: number[] = []
  while (reader.remaining > 0) {
    const signerId = nodeIdFromBytes(reader.view(addressBytes))
    verdicts.push(isBatchSignedBy(readBatch(reader), crypto, signerId) ? 1 : 0)
  }
  return Uint8Array.from(verdicts)
}

function readBatch(reader: Reader): SignedBatch {
  const isDelegated = reader.u8() === 1
  const headerEnd = reader.u32()
  const messageOffsets = Array.from({ length: reader.u16() }, () => reader.u32())
  const bytes = reader.view(reader.u32())
  const signatureAt = bytes.length - signatureBytes
  const ref = bytes.subarray(signatureAt - delegationRefBytes, signatureAt)
  return {
    ...{ bytes, headerEnd, messageOffsets, signature: bytes.subarray(signatureAt) },
    delegationRef: isDelegated ? refOfBytes(ref) : undefined,
  }
}
