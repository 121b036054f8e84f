import {
  decodeBatch,
  toStreamPartId,
  type MessageChain,
  type StreamMessage,
  type StreamPartId,
} from '@runnel/protocol'

interface PublishedMessage {
  readonly key: string
  /** Its place in its chain, from 0. */
  readonly index: number
  readonly content: string
}

/** All that honest publishers published. */
export class PublishedMessages {
  readonly #byKey = new Map<string, PublishedMessage>()
  readonly #counts = new Map<string, number>()

  /** A batch as its publisher made it. Gives the keys of its messages. */
  add(batchBytes: Uint8Array): string[] {
    return decodeBatch(batchBytes).messages.map((message) => {
      const chain = chainKey(message)
      const index = this.#counts.get(chain) ?? 0
      this.#counts.set(chain, index + 1)
      const key = messageKey(message)
      this.#byKey.set(key, { key, index, content: textOf(message) })
      return key
    })
  }

  /** What was published at this place, when it is this; undefined when it was altered, or made up. */
  find(message: StreamMessage): PublishedMessage | undefined {
    const published = this.#byKey.get(messageKey(message))
    return published?.content === textOf(message) ? published : undefined
  }
}

export function partOf({ streamId, partition }: Pick<MessageChain, 'streamId' | 'partition'>): StreamPartId {
  return toStreamPartId(streamId, partition)
}

export function chainKey(chain: MessageChain): string {
  return `${partOf(chain)} ${chain.publisherId} ${chain.messageChainId}`
}

/** Names a message. */
export function messageKey(message: StreamMessage): string {
  return `${chainKey(message)} ${message.timestamp} ${message.sequenceNumber}`
}

function textOf({ content, contentType, previous }: StreamMessage): string {
  return `${contentType} ${previous?.timestamp} ${previous?.sequenceNumber} ${Buffer.from(content).toString('base64')}`
}
