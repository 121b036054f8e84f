import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { bytesOfRef, type DelegationRef } from '../delegation/delegation-ref.ts'
import {
  decodeBatch,
  signatureBytes,
  writeUnsignedBatch,
  type MessageDraft,
} from '../messages/batch-codec.ts'
import { SignatureType, type MessageBatch, type MessageChain } from '../messages/stream-message.ts'
import type { Crypto } from '../ports.ts'
import { batchDigest } from './batch-signature.ts'

export interface BatchDraft {
  readonly chain: MessageChain
  /** In order, each naming the one before it as its previous. */
  readonly messages: readonly MessageDraft[]
}

const writer = new Writer()
const noSignature = new Uint8Array(signatureBytes)

/** Who signs batches: the publisher, or a delegate of its with the reference of its delegation. */
export interface BatchSigner extends Pick<Identity, 'sign'> {
  readonly delegationRef?: DelegationRef | undefined
}

/**
 * Writes and signs a batch. Throws LIMIT_EXCEEDED, or MALFORMED_PACKET when the draft is none a receiver would accept.
 * That the signer is or may act for the publisher of the chain is for the caller to see to.
 */
export function buildBatch(draft: BatchDraft, crypto: Crypto, signer: BatchSigner): MessageBatch {
  const { delegationRef: ref } = signer
  writer.reset()
  writeUnsignedBatch(writer, draft.chain, draft.messages)
  writer.u8(ref === undefined ? SignatureType.secp256k1Merkle : SignatureType.delegated)
  if (ref !== undefined) writer.raw(bytesOfRef(ref))
  writer.raw(noSignature)
  // Decoding what was written finds the places to hash, and refuses all that a receiver would refuse.
  const batch = decodeBatch(writer.view().slice())
  batch.signature.set(signer.sign(batchDigest(batch, crypto)))
  return batch
}
