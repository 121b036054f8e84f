import type { Aead } from '../ciphers/ciphers.ts'
import { nodeCiphers as ciphers } from '../ciphers/node-ciphers.ts'
import type { Identity } from '../crypto/identity.ts'
import type { StreamId } from '../ids/stream-id.ts'
import type { MessageDraft } from '../messages/batch-codec.ts'
import { EncryptionType, type MessageChain } from '../messages/stream-message.ts'
import { pattern } from '../messages/samples.testkit.ts'
import type { Crypto } from '../ports.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { deriveKey } from './derive-key.ts'
import { commitmentOf, epochIdOf, publisherKeyOf, type EpochId } from './epoch-keys.ts'
import { chainCipher, sealMessages } from './seal-batch.ts'

interface Sealing {
  readonly publisher: Identity
  readonly streamId: StreamId
  readonly epochKey: Uint8Array
}

/** The messages that were given stay as they are. */
export function sealedCopies(
  messages: readonly MessageDraft[],
  epochId: EpochId,
  aead: Aead,
): MessageDraft[] {
  const copies = messages.map((message) => ({ ...message }))
  sealMessages(copies, epochId, aead)
  return copies
}

/** Batches that open, with their keys, and some that do not. */
export function sealedVectors(crypto: Crypto, { publisher, streamId, epochKey }: Sealing) {
  const chain: MessageChain = {
    ...{ streamId, partition: 3, publisherId: publisher.nodeId, messageChainId: 'mK3vQ81x' },
  }
  const publisherKey = publisherKeyOf(ciphers, epochKey, publisher.nodeId)
  const aead = chainCipher(ciphers, publisherKey, chain)
  const epochId = epochIdOf(commitmentOf(ciphers, epochKey))
  const sign = (messages: readonly MessageDraft[], of = chain): Uint8Array =>
    buildBatch({ chain: of, messages }, crypto, publisher).bytes
  const seal = (messages: readonly MessageDraft[]) => sealedCopies(messages, epochId, aead)

  const batchOf = (name: string, messages: readonly MessageDraft[]) => {
    const batch = buildBatch({ chain, messages: seal(messages) }, crypto, publisher)
    return {
      ...{ name, epochKey, epochId, publisherId: publisher.nodeId, publisherKey },
      batchKey: deriveKey(ciphers, publisherKey, 'batch', batch.bytes.subarray(0, batch.headerEnd)),
      bytes: batch.bytes,
      messages: messages.map(({ contentType, content }) => ({ contentType, content })),
    }
  }
  const two = drafts(2)
  const [first, second] = seal(two)
  if (first === undefined || second === undefined) throw new Error('two were sealed')
  const flipped = first.content.with(0, (first.content[0] ?? 0) ^ 1)
  return {
    sealedBatches: [
      batchOf('one message, the first of its chain', drafts(1)),
      batchOf('one empty message', [{ ...draft(0), content: new Uint8Array(0) }]),
      batchOf('two messages', two),
      batchOf('64 messages', drafts(64)),
      batchOf('two messages with a previous and an extension', [
        { ...draft(9), extensions: [{ type: 5, bytes: pattern(3) }] },
        draft(10),
      ]),
    ],
    unopenedBatches: [
      { name: 'a byte of a content changed', bytes: sign([{ ...first, content: flipped }, second]) },
      { name: 'a message is missing', bytes: sign([first]) },
      { name: 'another content type outside', bytes: sign([{ ...first, contentType: 1 }, second]) },
      { name: 'another chain', bytes: sign([first, second], { ...chain, messageChainId: 'other' }) },
      { name: 'another partition', bytes: sign([first, second], { ...chain, partition: 4 }) },
      { name: 'two epochs', bytes: sign([first, { ...second, groupKeyId: 'AAAAAAAA' }]) },
      { name: 'a message that is not encrypted', bytes: sign([first, draft(1)]) },
    ].map((one) => ({ ...one, publisherKey })),
  }
}

const drafts = (count: number): MessageDraft[] => Array.from({ length: count }, (_, i) => draft(i))

function draft(index: number): MessageDraft {
  const at = (i: number) => ({ timestamp: 1_750_000_000_000 + Math.floor(i / 2), sequenceNumber: i % 2 })
  return {
    ...at(index),
    previous: index === 0 ? undefined : at(index - 1),
    contentType: index % 3,
    ...{ encryptionType: EncryptionType.none, groupKeyId: '' },
    content: pattern(5 + index),
  }
}
