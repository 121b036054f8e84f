import { splitHeaders, typeInside } from '@runnel/client'
import {
  compareRefs,
  ContentType,
  EncryptionType,
  isRemoval,
  type MessageBatch,
  type StreamMessage,
} from '@runnel/protocol'
import type { Extent } from '../selection.ts'
import type { EncodedDelegations } from '../store/stored-delegations.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const contentTypes = new Map<number, string>([
  [ContentType.binary, 'binary'],
  [ContentType.json, 'json'],
  [ContentType.text, 'text'],
])

/**
 * The messages of a batch that lie in the extent, a line of JSON each, as `runnel subscribe --meta` prints them, with the
 * batch's signature. With `verifiable` the first line has the batch as it was signed, in base64, and the delegation that it names,
 * if any.
 */
export function linesOf(
  batch: MessageBatch,
  { from, to }: Extent,
  verifiable?: { readonly delegation: Uint8Array | undefined },
): string {
  const signature = `0x${Buffer.from(batch.signature).toString('hex')}`
  let whole = verifiable && {
    batch: textOf(batch.bytes),
    delegation: verifiable.delegation && textOf(verifiable.delegation),
  }
  let lines = ''
  for (const message of batch.messages) {
    if (compareRefs(message, from) < 0 || compareRefs(message, to) > 0) continue
    lines += `${JSON.stringify({ ...fieldsOf(message), signature, ...whole })}\n`
    whole = undefined
  }
  return lines
}

function fieldsOf(message: StreamMessage) {
  const { headers, key, ...inner } = partsOf(message)
  const { streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId, previous } = message
  return {
    ...{ streamId, partition, timestamp, sequenceNumber, publisherId, messageChainId },
    previous: previous ?? null,
    contentType: contentTypes.get(typeInside(inner.contentType) ?? inner.contentType) ?? 'unknown',
    ...(typeInside(inner.contentType) === undefined ? {} : { compression: 'deflate' }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(key === undefined ? {} : { key }),
    ...(isRemoval(message) ? { isRemoval: true } : {}),
    ...(message.encryptionType === EncryptionType.none
      ? {}
      : { encryptionType: message.encryptionType, groupKeyId: message.groupKeyId }),
    content: contentOf({ ...message, ...inner }),
  }
}

/** Headers that are none stay with the content, which is then of an unknown type. */
function partsOf(message: StreamMessage): ReturnType<typeof splitHeaders> {
  try {
    return splitHeaders(message)
  } catch {
    return { contentType: message.contentType, content: message.content, headers: {}, key: undefined }
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
  return { base64: textOf(content) }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}

/** Set in the length of a delegation. */
const delegationFlag = 0x8000_0000

/** Batches as they were published, each after its length in four bytes, the highest first; before them what they name. */
export function* framesOf(
  batches: readonly MessageBatch[],
  delegations: EncodedDelegations,
): Generator<Uint8Array> {
  for (const bytes of delegations.values()) yield frameOf(bytes, delegationFlag)
  for (const { bytes } of batches) yield frameOf(bytes, 0)
}

function frameOf(bytes: Uint8Array, flag: number): Uint8Array {
  const framed = new Uint8Array(4 + bytes.length)
  new DataView(framed.buffer).setUint32(0, flag + bytes.length)
  framed.set(bytes, 4)
  return framed
}
