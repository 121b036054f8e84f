import {
  buildBatch,
  ContentType,
  parseStreamPartId,
  type Clock,
  type Crypto,
  type Identity,
  type MessageRef,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'

export interface ChainPublisherModules {
  readonly clock: Clock
  readonly crypto: Crypto
  readonly identity: Identity
}

/** Bytes of content in every message. */
const contentBytes = 100

/** Signs the messages of one chain. The first four bytes of a message say its number, from 0. */
export class ChainPublisher {
  readonly #streamPartId: StreamPartId
  readonly #modules: ChainPublisherModules
  #previous: MessageRef | undefined
  #count = 0

  constructor({ streamPartId }: { readonly streamPartId: StreamPartId }, modules: ChainPublisherModules) {
    this.#streamPartId = streamPartId
    this.#modules = modules
  }

  get publisherId(): NodeId {
    return this.#modules.identity.nodeId
  }

  /** Messages made so far. */
  get count(): number {
    return this.#count
  }

  /** The next message, as a batch to publish. */
  next(): Uint8Array {
    const { clock, crypto, identity } = this.#modules
    const { streamId, partition } = parseStreamPartId(this.#streamPartId)
    const chain = { streamId, partition, publisherId: identity.nodeId, messageChainId: 'sim' }
    const content = new Uint8Array(contentBytes)
    new DataView(content.buffer).setUint32(0, this.#count)
    const place = { timestamp: clock.now(), sequenceNumber: this.#count }
    const message = {
      ...place,
      previous: this.#previous,
      contentType: ContentType.binary,
      encryptionType: 0,
      groupKeyId: '',
      content,
    }
    this.#previous = place
    this.#count++
    return buildBatch({ chain, messages: [message] }, crypto, identity).bytes
  }
}

/** The number in a message of a ChainPublisher. */
export function messageNumber(content: Uint8Array): number {
  return new DataView(content.buffer, content.byteOffset).getUint32(0)
}
