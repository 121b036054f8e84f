import { tagBytes, type Aead, type Ciphers } from '../ciphers/ciphers.ts'
import { joined } from '../codec/joined.ts'
import { Writer } from '../codec/writer.ts'
import { writeChainHeader, writeEnvelope, type MessageDraft } from '../messages/batch-codec.ts'
import {
  ContentType,
  EncryptionType,
  type MessageBatch,
  type MessageChain,
  type MessageRef,
  type StreamMessage,
} from '../messages/stream-message.ts'
import { deriveKey } from './derive-key.ts'
import type { EpochId } from './epoch-keys.ts'

/** Bytes that sealing adds to each message: its content type. The last of a batch has a tag in addition. */
const typeBytes = 1

/** Sealed in place. */
type Sealable = { -readonly [K in keyof MessageDraft]: MessageDraft[K] }

/** Of a batch: what is around the contents, and the contents. Used again, as they are needed during one call only. */
const [envelopes, contents] = [new Writer(), new Writer()]
const nonce = new Uint8Array(12)
const nonceView = new DataView(nonce.buffer)

/** The cipher of one message chain: its key comes from the publisher's key and the chain's header. */
export function chainCipher(ciphers: Ciphers, publisherKey: Uint8Array, chain: MessageChain): Aead {
  envelopes.reset()
  writeChainHeader(envelopes, chain)
  return ciphers.aead('chacha20-poly1305', deriveKey(ciphers, publisherKey, 'batch', envelopes.view()))
}

/**
 * Seals the messages of one batch as a whole: one nonce and one tag, and all that is around the contents is associated data. So no
 * content can be cut out, moved or put under another header. `aead` is the chain's; a place is sealed once. The messages themselves
 * are changed, also where it throws: copies of them take a fifth of what sealing does besides the cipher. Throws LIMIT_EXCEEDED for
 * a message that is too large with what sealing adds.
 */
export function sealMessages(messages: readonly Sealable[], epochId: EpochId, aead: Aead): void {
  const last = messages.length - 1
  envelopes.reset()
  contents.reset()
  for (let i = 0; i <= last; i++) {
    const message = messages[i] as Sealable
    const { content } = message
    contents.u8(message.contentType)
    contents.raw(content)
    message.contentType = ContentType.binary
    message.encryptionType = EncryptionType.sealedBatch
    message.groupKeyId = epochId
    writeEnvelope(envelopes, message, typeBytes + content.length + (i === last ? tagBytes : 0))
  }
  const nonce = nonceOf(messages[0])
  const { ciphertext, tag } = aead.sealApart(nonce, contents.view(), envelopes.view())
  const { buffer, byteOffset } = ciphertext
  let start = byteOffset
  for (const message of messages) {
    const bytes = typeBytes + message.content.length
    // As `subarray` does, which takes twice as long.
    message.content = new Uint8Array(buffer, start, bytes)
    start += bytes
  }
  const end = messages[last]
  if (end !== undefined) end.content = joined(end.content, tag)
}

/** The messages of a sealed batch as they were before; undefined when the key is another one, or the batch is not authentic. */
export function openBatch(batch: MessageBatch, aead: Aead): readonly StreamMessage[] | undefined {
  const { messages, bytes, messageOffsets } = batch
  const groupKeyId = messages[0]?.groupKeyId
  // Envelopes and contents take turns in a batch: each goes together with its like.
  envelopes.reset()
  contents.reset()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let i = 0; i < messages.length; i++) {
    const { content, encryptionType, groupKeyId: ofMessage } = messages[i] as StreamMessage
    if (encryptionType !== EncryptionType.sealedBatch || ofMessage !== groupKeyId) return undefined
    envelopes.few(view, messageOffsets[2 * i] ?? 0, (messageOffsets[2 * i + 1] ?? 0) - content.length)
    contents.raw(content)
  }
  const plaintext = aead.open(nonceOf(messages[0]), contents.view(), envelopes.view())
  return plaintext && openedMessages(messages, plaintext)
}

/** Undefined where its publisher sealed a message without a type: nobody else could. */
function openedMessages(
  messages: readonly StreamMessage[],
  plaintext: Uint8Array,
): readonly StreamMessage[] | undefined {
  const { buffer, byteOffset, length } = plaintext
  // Of its size at once: it would be copied several times while it grows.
  const opened = new Array<StreamMessage>(messages.length)
  let start = 0
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as StreamMessage
    const end = Math.min(start + message.content.length, length)
    if (end <= start) return undefined
    const at = start + typeBytes
    opened[i] = {
      streamId: message.streamId,
      partition: message.partition,
      publisherId: message.publisherId,
      messageChainId: message.messageChainId,
      timestamp: message.timestamp,
      sequenceNumber: message.sequenceNumber,
      previous: message.previous,
      contentType: plaintext[start] as number,
      encryptionType: EncryptionType.none,
      groupKeyId: '',
      extensions: message.extensions,
      // As `subarray` does, which takes twice as long.
      content: new Uint8Array(buffer, byteOffset + at, end - at),
      batch: message.batch,
    }
    start = end
  }
  return opened
}

/** u48 timestamp ‖ u32 sequence number ‖ u16 0, of the first message: no other batch of the chain begins there. */
function nonceOf(
  { timestamp, sequenceNumber }: MessageRef = { timestamp: 0, sequenceNumber: 0 },
): Uint8Array {
  nonceView.setUint16(0, Math.floor(timestamp / 2 ** 32))
  nonceView.setUint32(2, timestamp >>> 0)
  nonceView.setUint32(6, sequenceNumber)
  return nonce
}
