import type { Message } from '@runnel/client'
import { printableJson } from '../cli/printable.ts'

/**
 * One line of JSON: the content, or with `meta` the content and all that identifies the message, or where `isNamed` at least its stream.
 * Bytes become base64.
 */
export function formatMessage(message: Message, meta: boolean, isNamed = false): string {
  const content = printableContent(message.content)
  if (!meta) return `${printableJson(isNamed ? { streamId: message.streamId, content } : content)}\n`
  const {
    streamId,
    partition,
    timestamp,
    sequenceNumber,
    publisherId,
    messageChainId,
    previous,
    contentType,
    headers,
    key,
    isRemoval,
  } = message
  return `${printableJson({
    ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
    previous: previous ?? null,
    contentType,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(key === undefined ? {} : { key }),
    ...(isRemoval ? { isRemoval } : {}),
    content,
  })}\n`
}

/** Bytes become base64, as they are no JSON. */
export function printableContent(content: unknown): unknown {
  return content instanceof Uint8Array ? { base64: Buffer.from(content).toString('base64') } : content
}
