import { packetBytes } from '../codec/frame.ts'
import { Writer } from '../codec/writer.ts'
import type { Identity } from '../crypto/identity.ts'
import { bytesOfRef, type DelegationRef } from '../delegation/delegation-ref.ts'
import {
  decodeBatch,
  signatureBytes,
  writeUnsignedBatch,
  type MessageDraft,
} from '../messages/batch-codec.ts'
import { PacketType } from '../messages/packet-table.ts'
import {
  SignatureType,
  type MessageBatch,
  type MessageChain,
  type StreamMessage,
} from '../messages/stream-message.ts'
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
 * A batch that this process built and signed: the one kind of batch that a node floods unchecked. Only `buildBatch` makes such, and what is
 * private in it lets nothing else pass for one, such as a batch that came over a network, or a copy of this with other bytes.
 */
export class BuiltBatch implements MessageBatch {
  readonly chain: MessageChain
  readonly messages: readonly StreamMessage[]
  readonly signatureType: number
  readonly delegationRef: DelegationRef | undefined
  readonly signature: Uint8Array
  readonly bytes: Uint8Array
  readonly headerEnd: number
  readonly messageOffsets: readonly number[]
  readonly #packet: Uint8Array

  private constructor(packet: Uint8Array, batch: MessageBatch) {
    this.chain = batch.chain
    this.messages = batch.messages
    this.signatureType = batch.signatureType
    this.delegationRef = batch.delegationRef
    this.signature = batch.signature
    this.bytes = batch.bytes
    this.headerEnd = batch.headerEnd
    this.messageOffsets = batch.messageOffsets
    this.#packet = packet
  }

  /** See `buildBatch`. */
  static build(draft: BatchDraft, crypto: Crypto, signer: BatchSigner): BuiltBatch {
    const { delegationRef: ref } = signer
    writer.reset()
    writeUnsignedBatch(writer, draft.chain, draft.messages)
    writer.u8(ref === undefined ? SignatureType.secp256k1Merkle : SignatureType.delegated)
    if (ref !== undefined) writer.raw(bytesOfRef(ref))
    writer.raw(noSignature)
    const packet = packetBytes(PacketType.data, writer.view())
    // Decoding what was written finds the places to hash, and refuses all that a receiver would refuse.
    const batch = decodeBatch(packet.subarray(packet.length - writer.offset))
    batch.signature.set(signer.sign(batchDigest(batch, crypto)))
    return new BuiltBatch(packet, batch)
  }

  /** The packet that carries it to neighbours; `bytes` is a view of it. */
  get packet(): Uint8Array {
    return this.#packet
  }
}

/**
 * Writes and signs a batch. Throws LIMIT_EXCEEDED, or MALFORMED_PACKET when the draft is none a receiver would accept.
 * That the signer is or may act for the publisher of the chain is for the caller to see to.
 */
export function buildBatch(draft: BatchDraft, crypto: Crypto, signer: BatchSigner): BuiltBatch {
  return BuiltBatch.build(draft, crypto, signer)
}
