import { tagBytes, type Aead, type Ciphers } from '../ciphers/ciphers.ts'
import { Writer } from '../codec/writer.ts'
import { writeChainHeader, writeEnvelope, type MessageDraft } from '../messages/batch-codec.ts'
import {
  ContentType,
  EncryptionType,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
} from '../messages/stream-message.ts'
import { deriveKey } from './derive-key.ts'
import type { EpochId } from './epoch-keys.ts'

/** Bytes that sealing adds to each message: its content type. The last of a batch has a tag in addition. */
const typeBytes = 1

/** What of a message is sealed. */
export interface SealedContent {
  readonly contentType: number
  readonly content: Uint8Array
}

const writer = new Writer()

/** The cipher of one message chain: its key comes from the publisher's key and the chain's header. */
export function chainCipher(ciphers: Ciphers, publisherKey: Uint8Array, chain: MessageChain): Aead {
  writer.reset()
  writeChainHeader(writer, chain)
  return ciphers.aead('chacha20-poly1305', deriveKey(ciphers, publisherKey, 'batch', writer.view()))
}

/**
 * Seals the messages of one batch as a whole: one nonce and one tag, and all that is around the contents is associated data. So no
 * content can be cut out, moved or put under another header. `aead` is the chain's; a place is sealed once. Throws LIMIT_EXCEEDED for
 * a message that is too large with what sealing adds.
 */
export function sealMessages(
  messages: readonly MessageDraft[],
  epochId: EpochId,
  aead: Aead,
): readonly MessageDraft[] {
  const last = messages.length - 1
  const sealed = messages.map((message) => ({ ...message, ...sealedHeader, groupKeyId: epochId }))
  const envelopes = envelopesOf((at) => {
    for (const [i, message] of sealed.entries())
      writeEnvelope(at, message, typeBytes + message.content.length + (i === last ? tagBytes : 0))
  })
  const plaintext = new Uint8Array(messages.reduce((sum, { content }) => sum + typeBytes + content.length, 0))
  let end = 0
  for (const { contentType, content } of messages) {
    plaintext[end] = contentType
    plaintext.set(content, end + typeBytes)
    end += typeBytes + content.length
  }
  const ciphertext = aead.seal(nonceOf(messages[0]), plaintext, envelopes)
  let start = 0
  return sealed.map((message, i) => {
    const length = typeBytes + message.content.length + (i === last ? tagBytes : 0)
    const content = ciphertext.subarray(start, start + length)
    start += length
    return { ...message, content }
  })
}

/** The content of each message of a sealed batch; undefined when the key is another one, or the batch is not authentic. */
export function openBatch(batch: MessageBatch, aead: Aead): readonly SealedContent[] | undefined {
  const { messages, bytes, messageOffsets } = batch
  const groupKeyId = messages[0]?.groupKeyId
  const isSealed = messages.every(
    (one) => one.encryptionType === EncryptionType.sealedBatch && one.groupKeyId === groupKeyId,
  )
  if (!isSealed) return undefined
  const envelopes = envelopesOf((at) => {
    for (const [i, { content }] of messages.entries())
      at.raw(bytes.subarray(messageOffsets[2 * i] ?? 0, (messageOffsets[2 * i + 1] ?? 0) - content.length))
  })
  const ciphertext = joined(messages.map(({ content }) => content))
  const plaintext = aead.open(nonceOf(messages[0]), ciphertext, envelopes)
  if (plaintext === undefined) return undefined
  const opened: SealedContent[] = []
  let start = 0
  for (const [i, { content }] of messages.entries()) {
    const end = start + content.length - (i === messages.length - 1 ? tagBytes : 0)
    const contentType = plaintext[start]
    // Its publisher sealed a message without a type: nobody else could.
    if (contentType === undefined || end <= start) return undefined
    opened.push({ contentType, content: plaintext.subarray(start + typeBytes, end) })
    start = end
  }
  return opened
}

const sealedHeader = { contentType: ContentType.binary, encryptionType: EncryptionType.sealedBatch }

/** u48 timestamp ‖ u32 sequence number ‖ u16 0, of the first message: no other batch of the chain begins there. */
function nonceOf(first: MessageRef | undefined): Uint8Array {
  const nonce = new Uint8Array(12)
  const view = new DataView(nonce.buffer)
  const timestamp = first?.timestamp ?? 0
  view.setUint16(0, Math.floor(timestamp / 2 ** 32))
  view.setUint32(2, timestamp >>> 0)
  view.setUint32(6, first?.sequenceNumber ?? 0)
  return nonce
}

/** A view that is good until the next one. */
function envelopesOf(write: (writer: Writer) => void): Uint8Array {
  writer.reset()
  write(writer)
  return writer.view()
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [only] = parts
  if (parts.length === 1 && only !== undefined) return only
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
