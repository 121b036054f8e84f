import { delegationRefBytes } from '../delegation/delegation-ref.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import { signatureBytes } from '../messages/batch-codec.ts'
import type { MessageBatch } from '../messages/stream-message.ts'
import type { Crypto } from '../ports.ts'
import { ethereumMessageDigest } from './ethereum-message.ts'
import { leafTag, merkleRoot } from './merkle.ts'

/** What a delegate signs begins with 2, as no leaf and no inner node of a Merkle tree does; its reference and the root follow. */
const delegatedRoot = Uint8Array.of(2, ...new Uint8Array(delegationRefBytes + 32))

/** The parts of a batch that are hashed. */
export type HashedBatch = Pick<MessageBatch, 'bytes' | 'headerEnd' | 'messageOffsets' | 'delegationRef'>

/** What is needed of a batch to check its signature. */
export type SignedBatch = HashedBatch & Pick<MessageBatch, 'signature'>

/**
 * The 32 bytes a publisher signs: the EIP-191 digest of the Merkle root over the leaves
 * keccak256(0x00 ‖ keccak256(header) ‖ message). The header is in every leaf, so that a leaf and its path alone prove
 * one message of the batch. A delegate signs keccak256(0x02 ‖ reference ‖ root) in place of the root, so that nobody can
 * put what it signed under another delegation.
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
  const root = merkleRoot(leaves, crypto)
  if (batch.delegationRef === undefined) return ethereumMessageDigest(root, crypto)
  // Just before the signature, which is at the end.
  const refEnd = bytes.length - signatureBytes
  delegatedRoot.set(bytes.subarray(refEnd - delegationRefBytes, refEnd), 1)
  delegatedRoot.set(root, 1 + delegationRefBytes)
  return ethereumMessageDigest(crypto.keccak256(delegatedRoot), crypto)
}

/**
 * True when the publisher that the batch names signed it, or the given delegate of its. That there is a delegation with the
 * batch's reference, and what it allows, is for the caller to see to. Never throws.
 */
export function verifyBatch(
  batch: MessageBatch,
  crypto: Crypto,
  signerId: NodeId = batch.chain.publisherId,
): boolean {
  return isBatchSignedBy(batch, crypto, signerId)
}

/** True when the key of this address signed the batch. Never throws. */
export function isBatchSignedBy(batch: SignedBatch, crypto: Crypto, signerId: NodeId): boolean {
  const address = crypto.recover(batchDigest(batch, crypto), batch.signature, signerId)
  return address !== undefined && nodeIdFromBytes(address) === signerId
}
