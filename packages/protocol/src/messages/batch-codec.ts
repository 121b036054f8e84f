import {
  checkedPartition,
  checkedStreamId,
  roomForRef,
  roomForVarint,
  setVarint,
  maxU32,
  readNodeId,
  readRef,
  setRef,
  writeNodeId,
} from '../codec/fields.ts'
import { Reader, withinLimit } from '../codec/reader.ts'
import { Writer } from '../codec/writer.ts'
import { delegationRefBytes, refOfBytes } from '../delegation/delegation-ref.ts'
import { protocolError } from '../errors.ts'
import { keyPartition } from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import { ChainCache } from './chain-cache.ts'
import { readExtensions, writeExtensions } from './extensions.ts'
import { compareRefs, ContentType, EncryptionType, SignatureType } from './stream-message.ts'
import type { Extension, MessageBatch, MessageChain, MessageRef, StreamMessage } from './stream-message.ts'

/** The version of the batch layout, in its first byte. */
export const BATCH_VERSION = 1
export const signatureBytes = 65

const previousFlag = 1
const encryptedFlag = 2
const extendedFlag = 4

/** What a publisher says of one message; the chain is said once for the batch. */
export interface MessageDraft {
  readonly timestamp: number
  readonly sequenceNumber: number
  readonly previous: MessageRef | undefined
  readonly contentType: number
  readonly encryptionType: number
  readonly groupKeyId: string
  /** By ascending type; default: none. */
  readonly extensions?: readonly Extension[] | undefined
  readonly content: Uint8Array
}

const chains = new ChainCache()

/**
 * Takes a batch apart and checks all that can be checked without its signature. The content is a view of `bytes`,
 * and batches with the same header share one `chain`.
 * Throws MALFORMED_PACKET, LIMIT_EXCEEDED or UNSUPPORTED_VERSION.
 */
export function decodeBatch(bytes: Uint8Array): MessageBatch {
  const reader = new Reader(bytes)
  withinLimit(reader.remaining, limits.maxBatchBytes, 'bytes of a batch')
  const chain = readHeader(reader)
  const headerEnd = reader.offset
  const count = reader.u16()
  if (count === 0) throw protocolError('MALFORMED_PACKET', 'a batch without messages')
  withinLimit(count, limits.maxBatchMessages, 'messages of a batch')
  const messages: ReadMessage[] = []
  const messageOffsets: number[] = []
  let before: StreamMessage | undefined
  for (let i = 0; i < count; i++) {
    messageOffsets.push(reader.offset)
    const message = readMessage(reader, chain, before?.groupKeyId)
    messageOffsets.push(reader.offset)
    checkOrder(message, before)
    messages.push(message)
    before = message
  }
  checkSpan(messages)
  const signer = readSigner(reader)
  const signature = reader.view(signatureBytes)
  reader.end()
  const batch = { chain, messages, ...signer, signature, bytes: reader.bytes, headerEnd, messageOffsets }
  for (const message of messages)
    if (message.encryptionType === EncryptionType.sealedBatch) message.batch = batch
  if (signer.delegationRef !== undefined && chain.partition === keyPartition)
    for (const message of messages) message.delegationRef = signer.delegationRef
  return batch
}

function readSigner(reader: Reader): Pick<MessageBatch, 'signatureType' | 'delegationRef'> {
  const signatureType = reader.u8()
  switch (signatureType) {
    case SignatureType.secp256k1Merkle:
      return { signatureType, delegationRef: undefined }
    case SignatureType.delegated:
      return { signatureType, delegationRef: refOfBytes(reader.view(delegationRefBytes)) }
    default:
      throw protocolError('UNSUPPORTED_VERSION', `signature type ${signatureType}`)
  }
}

function readHeader(reader: Reader): MessageChain {
  const known = chains.get(reader.bytes)
  if (known !== undefined) {
    reader.skip(known.header.length)
    return known.chain
  }
  const version = reader.u8()
  if (version !== BATCH_VERSION) {
    throw protocolError('UNSUPPORTED_VERSION', `batch version ${version}, this is ${BATCH_VERSION}`)
  }
  const chain: MessageChain = Object.freeze({
    streamId: checkedStreamId(reader.shortAscii(limits.maxStreamIdBytes, 'stream id')),
    partition: checkedPartition(reader.u8()),
    publisherId: readNodeId(reader),
    messageChainId: reader.shortAscii(limits.maxMessageChainIdBytes, 'message chain id'),
  })
  chains.put(reader.bytes.subarray(0, reader.offset), chain)
  return chain
}

/** While its batch is being read. */
type ReadMessage = { -readonly [K in keyof StreamMessage]: StreamMessage[K] }

/** Messages of a batch mostly have the same group key. */
function readMessage(reader: Reader, chain: MessageChain, expectedKeyId: string | undefined): ReadMessage {
  const flags = reader.u8()
  if (flags > (previousFlag | encryptedFlag | extendedFlag))
    throw protocolError('MALFORMED_PACKET', `message flags ${flags}`)
  const timestamp = reader.u48()
  const sequenceNumber = reader.varint(maxU32)
  const previous = flags & previousFlag ? readRef(reader) : undefined
  const contentType = reader.u8()
  let encryptionType: number = EncryptionType.none
  let groupKeyId = ''
  if (flags & encryptedFlag) {
    encryptionType = reader.u8()
    if (encryptionType === EncryptionType.none) throw protocolError('MALFORMED_PACKET', 'encryption type 0')
    groupKeyId = reader.shortAscii(limits.maxGroupKeyIdBytes, 'group key id', expectedKeyId)
  }
  const extensions = flags & extendedFlag ? readExtensions(reader) : undefined
  const content = reader.view(reader.count(limits.maxContentBytes, 'bytes of content'))
  return {
    streamId: chain.streamId,
    partition: chain.partition,
    publisherId: chain.publisherId,
    messageChainId: chain.messageChainId,
    timestamp,
    sequenceNumber,
    previous,
    contentType,
    encryptionType,
    groupKeyId,
    extensions,
    content,
  }
}

/** Within a batch each message names the one before it; the first may name any earlier one, or none. */
function checkOrder(message: MessageDraft, before: MessageDraft | undefined): void {
  const { previous } = message
  if (previous !== undefined && compareRefs(previous, message) >= 0) {
    throw protocolError('MALFORMED_PACKET', 'a message whose previous is not before it')
  }
  if (before !== undefined && (previous === undefined || compareRefs(previous, before) !== 0)) {
    throw protocolError('MALFORMED_PACKET', 'a message whose previous is not the one before it in the batch')
  }
}

/** Messages of a batch are in order, so its first and last say how long it lasts. */
function checkSpan(messages: readonly MessageDraft[]): void {
  const spanMs = (messages.at(-1)?.timestamp ?? 0) - (messages[0]?.timestamp ?? 0)
  withinLimit(spanMs, limits.maxBatchSpanMs, 'ms from the first to the last message of a batch')
}

/** A batch but for its signature, which comes at the end. Throws what decoding the result would throw. */
export function writeUnsignedBatch(
  writer: Writer,
  chain: MessageChain,
  messages: readonly MessageDraft[],
): void {
  writeChainHeader(writer, chain)
  if (messages.length === 0) throw protocolError('MALFORMED_PACKET', 'a batch without messages')
  writer.u16(withinLimit(messages.length, limits.maxBatchMessages, 'messages of a batch'))
  checkSpan(messages)
  let before: MessageDraft | undefined
  for (const message of messages) {
    checkOrder(message, before)
    writeMessage(writer, message)
    before = message
  }
}

/** How a batch of a chain begins. */
export function writeChainHeader(writer: Writer, chain: MessageChain): void {
  writer.u8(BATCH_VERSION)
  writer.shortAscii(checkedStreamId(chain.streamId), limits.maxStreamIdBytes, 'stream id')
  writer.u8(checkedPartition(chain.partition))
  writeNodeId(writer, chain.publisherId)
  writer.shortAscii(chain.messageChainId, limits.maxMessageChainIdBytes, 'message chain id')
}

function writeMessage(writer: Writer, message: MessageDraft): void {
  writeEnvelope(writer, message, message.content.length)
  writer.raw(message.content)
}

/** All of a message before its content. */
export function writeEnvelope(
  writer: Writer,
  message: Omit<MessageDraft, 'content'>,
  contentBytes: number,
): void {
  const { previous, contentType, encryptionType, groupKeyId, extensions } = message
  if (
    contentType !== kind.contentType ||
    encryptionType !== kind.encryptionType ||
    groupKeyId !== kind.groupKeyId
  )
    kind = kindOf(contentType, encryptionType, groupKeyId)
  const { flags, bytes, length } = kind
  let at = writer.room(roomForEnvelope)
  let { numbers } = writer
  numbers.setUint8(
    at++,
    flags | (previous === undefined ? 0 : previousFlag) | (extensions === undefined ? 0 : extendedFlag),
  )
  at = setRef(numbers, at, message)
  if (previous !== undefined) at = setRef(numbers, at, previous)
  // By fours, of which the last may reach into what comes next: copying the rest one by one takes longer.
  for (let i = 0; i < length; i += 4) numbers.setUint32(at + i, bytes.getUint32(i))
  at += length
  if (extensions !== undefined) {
    writer.wrote(at)
    writeExtensions(writer, extensions)
    at = writer.room(roomForVarint)
    numbers = writer.numbers
  }
  writer.wrote(setVarint(numbers, at, withinLimit(contentBytes, limits.maxContentBytes, 'bytes of content')))
}

/** What most envelopes of a batch have in common, types and a group key id, and how it is written. */
interface MessageKind {
  readonly contentType: number
  readonly encryptionType: number
  readonly groupKeyId: string
  readonly flags: number
  /** With zeros behind it, to whole words. */
  readonly bytes: DataView
  readonly length: number
}

/** Of two types, and a text with its length. */
const roomForKind = 2 + 1 + limits.maxGroupKeyIdBytes
/** Of an envelope without extensions: flags, two places, its kind to a whole word, and a length. */
const roomForEnvelope = 1 + 2 * roomForRef + roomForKind + 3 + roomForVarint

const kindWriter = new Writer()
/** Of the message that was written last. */
let kind = kindOf(ContentType.binary, EncryptionType.none, '')

function kindOf(contentType: number, encryptionType: number, groupKeyId: string): MessageKind {
  const isEncrypted = encryptionType !== EncryptionType.none
  kindWriter.reset()
  kindWriter.u8(contentType)
  if (isEncrypted) {
    kindWriter.u8(encryptionType)
    kindWriter.shortAscii(groupKeyId, limits.maxGroupKeyIdBytes, 'group key id')
  } else if (groupKeyId !== '') throw protocolError('MALFORMED_PACKET', 'a group key id without encryption')
  const bytes = new Uint8Array(roomForKind + 3)
  bytes.set(kindWriter.view())
  return {
    ...{ contentType, encryptionType, groupKeyId, length: kindWriter.offset },
    flags: isEncrypted ? encryptedFlag : 0,
    bytes: new DataView(bytes.buffer),
  }
}
