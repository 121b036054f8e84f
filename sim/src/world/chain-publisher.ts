import {
  buildBatch,
  ContentType,
  parseStreamPartId,
  type BatchSigner,
  type BuiltBatch,
  type Clock,
  type Crypto,
  type Identity,
  type MessageDraft,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'

export interface ChainPublisherOptions {
  readonly streamPartId: StreamPartId
  readonly messageChainId?: string
}

export interface ChainPublisherModules {
  readonly clock: Clock
  readonly crypto: Crypto
  readonly identity: Identity
  /** Who signs for the identity. Default: itself. */
  readonly signer?: BatchSigner
}

/** Bytes of content in every message. */
const contentBytes = 100

/** Signs the messages of one chain. The first four bytes of a message say its number, from 0. */
export class ChainPublisher {
  readonly #streamPartId: StreamPartId
  readonly #messageChainId: string
  readonly #modules: ChainPublisherModules
  #previous: MessageRef | undefined
  #count = 0

  constructor(
    { streamPartId, messageChainId = 'sim' }: ChainPublisherOptions,
    modules: ChainPublisherModules,
  ) {
    this.#streamPartId = streamPartId
    this.#messageChainId = messageChainId
    this.#modules = modules
  }

  get publisherId(): NodeId {
    return this.#modules.identity.nodeId
  }

  /** Messages made so far. */
  get count(): number {
    return this.#count
  }

  /** The next message, or the next few, as a batch to publish. */
  next(messages = 1): BuiltBatch {
    const { crypto, identity, signer = identity } = this.#modules
    const { streamId, partition } = parseStreamPartId(this.#streamPartId)
    const chain = { streamId, partition, publisherId: identity.nodeId, messageChainId: this.#messageChainId }
    const drafts = Array.from({ length: messages }, () => this.#draft())
    return buildBatch({ chain, messages: drafts }, crypto, signer)
  }

  #draft(): MessageDraft {
    const content = new Uint8Array(contentBytes)
    new DataView(content.buffer).setUint32(0, this.#count)
    const place = { timestamp: this.#modules.clock.now(), sequenceNumber: this.#count }
    const { binary: contentType } = ContentType
    const draft = {
      ...place,
      previous: this.#previous,
      contentType,
      encryptionType: 0,
      groupKeyId: '',
      content,
    }
    this.#previous = place
    this.#count++
    return draft
  }
}

/** The number in a message of a ChainPublisher. */
export function messageNumber(content: Uint8Array): number {
  return new DataView(content.buffer, content.byteOffset).getUint32(0)
}
