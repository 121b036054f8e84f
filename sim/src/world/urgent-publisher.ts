import {
  buildBatch,
  ContentType,
  EncryptionType,
  parseStreamPartId,
  urgentExtensionOf,
  type BuiltBatch,
  type Clock,
  type Crypto,
  type Identity,
  type MessageChain,
  type StreamPartId,
  type UrgentFields,
} from '@runnel/protocol'

interface UrgentPublisherModules {
  readonly clock: Pick<Clock, 'now'>
  readonly crypto: Crypto
  readonly identity: Identity
}

/** Makes the urgent messages of one chain. */
export class UrgentPublisher {
  readonly #chain: MessageChain
  readonly #modules: UrgentPublisherModules
  #sequenceNumber = 0

  constructor({ streamPartId }: { readonly streamPartId: StreamPartId }, modules: UrgentPublisherModules) {
    const { nodeId: publisherId } = modules.identity
    this.#chain = { ...parseStreamPartId(streamPartId), publisherId, messageChainId: '!sim' }
    this.#modules = modules
  }

  /** The batch of the next one; each is a group of its own, unless that is said. */
  next(
    content: Uint8Array,
    fields: Pick<UrgentFields, 'lifetimeMs' | 'priority'> & Partial<UrgentFields>,
  ): BuiltBatch {
    const { clock, crypto, identity } = this.#modules
    const sequenceNumber = ++this.#sequenceNumber
    const draft = {
      ...{ timestamp: clock.now(), sequenceNumber, previous: undefined, content },
      ...{ contentType: ContentType.binary, encryptionType: EncryptionType.none, groupKeyId: '' },
      extensions: [urgentExtensionOf({ group: sequenceNumber, object: 0, order: 'oldest', ...fields })],
    }
    return buildBatch({ chain: this.#chain, messages: [draft] }, crypto, identity)
  }
}
