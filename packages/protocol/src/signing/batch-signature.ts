import { nodeIdFromBytes } from '../ids/node-id.ts'
import type { MessageBatch } from '../messages/stream-message.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'
import { leafTag, merkleRoot } from './merkle.ts'

/** The parts of a batch that are hashed. */
export type HashedBatch = Pick<MessageBatch, 'bytes' | 'headerEnd' | 'messageOffsets'>

/**
 * The 32 bytes a publisher signs: the EIP-191 digest of the Merkle root over the leaves
 * keccak256(0x00 ‖ keccak256(header) ‖ message). The header is in every leaf, so that a leaf and its path alone prove
 * one message of the batch.
 */
export function batchDigest(batch: HashedBatch, crypto: Crypto): Uint8Array {
  const { bytes, headerEnd, messageOffsets } = batch
  const leafPrefix = new Uint8Array(33)
  leafPrefix[0] = leafTag
  leafPrefix.set(crypto.keccak256(bytes.subarray(0, headerEnd)), 1)
  const leaves: Uint8Array[] = []
  for (let i = 0; i < messageOffsets.length; i += 2) {
    leaves.push(crypto.keccak256(leafPrefix, bytes.subarray(messageOffsets[i], messageOffsets[i + 1])))
  }
  return ethereumMessageDigest(merkleRoot(leaves, crypto), crypto)
}

/** True when the publisher that the batch names signed it. Never throws. */
export function verifyBatch(batch: MessageBatch, crypto: Crypto): boolean {
  const { publisherId } = batch.chain
  const address = crypto.recover(batchDigest(batch, crypto), batch.signature, publisherId)
  return address !== undefined && nodeIdFromBytes(address) === publisherId
}
