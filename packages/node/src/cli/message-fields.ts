import type { Message } from '@runnel/client'

/** What a message says, as plain data for JSON; `content` last. Bytes become base64. */
export function messageFields(message: Message): Readonly<Record<string, unknown>> {
  const {
    streamId,
    partition,
    timestamp,
    sequenceNumber,
    publisherId,
    messageChainId,
    previous,
    keyId,
    contentType,
    headers,
    key,
    isRemoval,
    urgent,
  } = message
  return {
    ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
    previous: previous ?? null,
    ...(keyId === undefined ? {} : { keyId }),
    contentType,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(key === undefined ? {} : { key }),
    ...(isRemoval ? { isRemoval } : {}),
    ...(urgent === undefined ? {} : { urgent }),
    content: printableContent(message.content),
  }
}

/** Bytes become base64, as they are no JSON. */
export function printableContent(content: unknown): unknown {
  return content instanceof Uint8Array ? { base64: Buffer.from(content).toString('base64') } : content
}
