import { EncryptionType, toNodeId, toStreamId, type StreamMessage } from '@runnel/protocol'
import type { ContentStep, MessageContent } from './content-step.ts'

const publisherId = toNodeId(`0x${'ab'.repeat(20)}`)
export const chain = {
  streamId: toStreamId(`${publisherId}/content`),
  partition: 0,
  publisherId,
  messageChainId: 'c',
}

/** A message of text in a chain. */
export function textMessage(timestamp: number, text = `${timestamp}`, messageChainId = 'c'): StreamMessage {
  return {
    ...chain,
    messageChainId,
    ...{ timestamp, sequenceNumber: 0, previous: undefined },
    ...{ contentType: 2, encryptionType: EncryptionType.none, groupKeyId: '' },
    content: new TextEncoder().encode(text),
  }
}

export const textOf = ({ content }: Pick<StreamMessage, 'content'>) => new TextDecoder().decode(content)

/** Encryption for tests: it takes as long as `turn`, and its content type is inside what is sealed. */
export function xorStep(key: number, turn: () => Promise<void> = () => Promise.resolve()): ContentStep {
  const groupKeyId = `xor-${key}`
  const xor = (bytes: Uint8Array) => bytes.map((byte) => byte ^ key)
  return {
    name: 'xor',
    async seal(messages) {
      await turn()
      return messages.map(({ contentType, content }): MessageContent => {
        const sealed = xor(Uint8Array.of(contentType, ...content))
        return { contentType: 0, encryptionType: 200, groupKeyId, content: sealed }
      })
    },
    isSealed: ({ encryptionType }) => encryptionType === 200,
    async open(message) {
      if (message.groupKeyId !== groupKeyId) throw new Error(`no key ${message.groupKeyId}`)
      await turn()
      const [contentType = 0, ...content] = xor(message.content)
      return {
        ...{ contentType, encryptionType: EncryptionType.none, groupKeyId: '' },
        content: Uint8Array.from(content),
      }
    },
  }
}
