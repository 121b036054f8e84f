import type { Message } from '@runnel/client'

/** One line of JSON: the content, or with `meta` the content and all that identifies the message. Bytes become base64. */
export function formatMessage(message: Message, meta: boolean): string {
  const content = printableContent(message.content)
  if (!meta) return `${JSON.stringify(content)}\n`
  const {
    streamId,
    partition,
    timestamp,
    sequenceNumber,
    publisherId,
    messageChainId,
    previous,
    contentType,
  } = message
  return `${JSON.stringify({
    ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
    previous: previous ?? null,
    contentType,
    content,
  })}\n`
}

function printableContent(content: unknown): unknown {
  return content instanceof Uint8Array ? { base64: Buffer.from(content).toString('base64') } : content
}
