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
  const sealedBytes = messages.reduce((sum, { content }) => sum + typeBytes + content.length, tagBytes)
  // First the plaintext, then, in the same place, what comes of it: each message has a view of its part.
  const all = new Uint8Array(sealedBytes)
  let start = 0
  const sealed = messages.map(({ timestamp, sequenceNumber, previous, contentType, extensions, content }, i) => {
    const end = i === last ? sealedBytes : start + typeBytes + content.length
    all[start] = contentType
    all.set(content, start + typeBytes)
    const view = all.subarray(start, end)
    start = end
    return {
      timestamp,
      sequenceNumber,
      previous,
      contentType: ContentType.binary,
      encryptionType: EncryptionType.sealedBatch,
      groupKeyId: epochId,
      extensions,
      content: view,
    }
  })
  writer.reset()
  for (const message of sealed) writeEnvelope(writer, message, message.content.length)
  const plaintext = all.subarray(0, sealedBytes - tagBytes)
  all.set(aead.seal(nonceOf(messages[0]), plaintext, writer.view()))
  return sealed
}

/** The content of each message of a sealed batch; undefined when the key is another one, or the batch is not authentic. */
export function openBatch(batch: MessageBatch, aead: Aead): readonly SealedContent[] | undefined {
  const { messages, bytes, messageOffsets } = batch
  const groupKeyId = messages[0]?.groupKeyId
  const isSealed = messages.every(
    (one) => one.encryptionType === EncryptionType.sealedBatch && one.groupKeyId === groupKeyId,
  )
  if (!isSealed) return undefined
  // Envelopes and contents take turns in a batch: each goes together with its like.
  const contentBytes = messages.reduce((sum, { content }) => sum + content.length, 0)
  const envelopes = new Uint8Array((messageOffsets.at(-1) ?? 0) - (messageOffsets[0] ?? 0) - contentBytes)
  const ciphertext = new Uint8Array(contentBytes)
  let [envelopesEnd, ciphertextEnd] = [0, 0]
  messages.forEach(({ content }, i) => {
    const contentAt = (messageOffsets[2 * i + 1] ?? 0) - content.length
    // Byte by byte: they are few, and a view of them costs more.
    for (let at = messageOffsets[2 * i] ?? 0; at < contentAt; at++) envelopes[envelopesEnd++] = bytes[at] ?? 0
    ciphertext.set(content, ciphertextEnd)
    ciphertextEnd += content.length
  })
  const plaintext = aead.open(nonceOf(messages[0]), ciphertext, envelopes)
  if (plaintext === undefined) return undefined
  const opened: SealedContent[] = []
  let start = 0
  for (const { content } of messages) {
    const end = Math.min(start + content.length, plaintext.length)
    const contentType = plaintext[start]
    // Its publisher sealed a message without a type: nobody else could.
    if (contentType === undefined || end <= start) return undefined
    opened.push({ contentType, content: plaintext.subarray(start + typeBytes, end) })
    start = end
  }
  return opened
}

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
