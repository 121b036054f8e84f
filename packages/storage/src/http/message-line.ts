import { typeInside } from '@runnel/client'
import {
  compareRefs,
  ContentType,
  EncryptionType,
  type MessageBatch,
  type StreamMessage,
} from '@runnel/protocol'
import type { Extent } from '../selection.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const contentTypes = new Map<number, string>([
  [ContentType.binary, 'binary'],
  [ContentType.json, 'json'],
  [ContentType.text, 'text'],
])

/**
 * The messages of a batch that lie in the extent, a line of JSON each, as `runnel subscribe --meta` prints them, with the
 * batch's signature. With `whole` the first line has the batch as it was signed, in base64, so that it can be verified.
 */
export function linesOf(batch: MessageBatch, { from, to }: Extent, whole: boolean): string {
  const signature = `0x${Buffer.from(batch.signature).toString('hex')}`
  let bytes = whole ? Buffer.from(batch.bytes).toString('base64') : undefined
  let lines = ''
  for (const message of batch.messages) {
    if (compareRefs(message, from) < 0 || compareRefs(message, to) > 0) continue
    lines += `${JSON.stringify({ ...fieldsOf(message), signature, batch: bytes })}\n`
    bytes = undefined
  }
  return lines
}

function fieldsOf(message: StreamMessage) {
  const { streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId, previous } = message
  return {
    ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
    previous: previous ?? null,
    contentType: contentTypes.get(typeInside(message.contentType) ?? message.contentType) ?? 'unknown',
    ...(typeInside(message.contentType) === undefined ? {} : { compression: 'deflate' }),
    ...(message.encryptionType === EncryptionType.none
      ? {}
      : { encryptionType: message.encryptionType, groupKeyId: message.groupKeyId }),
    content: contentOf(message),
  }
}

/** What is sealed, or cannot be read as what it says it is, is given as bytes. */
function contentOf({ contentType, encryptionType, content }: StreamMessage): unknown {
  if (encryptionType === EncryptionType.none) {
    try {
      if (contentType === ContentType.json) return JSON.parse(decoder.decode(content)) as unknown
      if (contentType === ContentType.text) return decoder.decode(content)
    } catch {
      return base64(content)
    }
  }
  return base64(content)
}

function base64(content: Uint8Array): { readonly base64: string } {
  return { base64: Buffer.from(content).toString('base64') }
}

/** A batch as it was published, after its length in four bytes, the highest first. */
export function lengthPrefixed(bytes: Uint8Array): Uint8Array {
  const framed = new Uint8Array(4 + bytes.length)
  new DataView(framed.buffer).setUint32(0, bytes.length)
  framed.set(bytes, 4)
  return framed
}
