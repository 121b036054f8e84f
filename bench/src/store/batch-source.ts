import {
  buildBatch,
  ContentType,
  toStreamId,
  toStreamPartId,
  type Crypto,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type StreamPartId,
} from '@runnel/protocol'
import { newIdentity } from '../swarm.ts'

/** Stores do not look at signatures, and making them would take longer than storing. */
const unsigned = { sign: () => new Uint8Array(65) }

export const messageBytes = 200
/** Publishers whose messages come in turns. */
const publishers = 4

interface Publisher {
  readonly chain: MessageChain
  previous: MessageRef | undefined
}

/** Batches of some publishers in turns, a message a millisecond. */
export class BatchSource {
  readonly streamPartId: StreamPartId
  readonly #crypto: Crypto
  readonly #publishers: readonly Publisher[]
  #timestamp = Date.UTC(2026, 0)
  #turn = 0

  constructor(crypto: Crypto, name: string) {
    this.#crypto = crypto
    const ids = Array.from({ length: publishers }, () => newIdentity(crypto).nodeId)
    const streamId = toStreamId(`${ids[0]}/${name}`)
    this.streamPartId = toStreamPartId(streamId, 0)
    this.#publishers = ids.map((publisherId) => ({
      chain: { streamId, partition: 0, publisherId, messageChainId: 'bench' },
      previous: undefined,
    }))
  }

  /** The next messages, `perBatch` under one signature. */
  take(messages: number, perBatch: number): MessageBatch[] {
    return Array.from({ length: Math.ceil(messages / perBatch) }, () => this.#next(perBatch))
  }

  #next(size: number): MessageBatch {
    const publisher = this.#publishers[this.#turn++ % publishers]
    if (publisher === undefined) throw new Error('no publisher')
    const messages = Array.from({ length: size }, () => {
      const ref = { timestamp: this.#timestamp++, sequenceNumber: 0 }
      const { previous } = publisher
      publisher.previous = ref
      const content = new Uint8Array(messageBytes)
      return { ...ref, previous, contentType: ContentType.binary, encryptionType: 0, groupKeyId: '', content }
    })
    return buildBatch({ chain: publisher.chain, messages }, this.#crypto, unsigned)
  }
}
