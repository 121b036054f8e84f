import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nodeCiphers } from '../ciphers/node-ciphers.ts'
import { pageCiphers } from '../ciphers/page-ciphers.ts'
import { createIdentity } from '../crypto/identity.ts'
import { loadCrypto } from '../crypto/load-crypto.ts'
import { toNodeId } from '../ids/node-id.ts'
import { toStreamId } from '../ids/stream-id.ts'
import { decodeBatch, type MessageDraft } from '../messages/batch-codec.ts'
import { EncryptionType, type MessageBatch, type MessageChain } from '../messages/stream-message.ts'
import { buildBatch } from '../signing/build-batch.ts'
import { commitmentOf, epochIdOf, publisherKeyOf } from './epoch-keys.ts'
import { chainCipher, openBatch } from './seal-batch.ts'
import { sealedCopies } from './sealed.testkit.ts'

const crypto = await loadCrypto()
const identity = createIdentity(new Uint8Array(32).fill(1), crypto)
const publisherId = identity.nodeId
const chain: MessageChain = {
  streamId: toStreamId(`${publisherId}/sealed`),
  partition: 0,
  publisherId,
  messageChainId: 'c',
}
const epochKey = new Uint8Array(32).fill(7)
const epochId = epochIdOf(commitmentOf(nodeCiphers, epochKey))
const cipherOf = (of: MessageChain, ciphers = nodeCiphers) =>
  chainCipher(ciphers, publisherKeyOf(ciphers, epochKey, of.publisherId), of)

function drafts(contents: readonly Uint8Array[], timestamp = 1_000): MessageDraft[] {
  return contents.map((content, i) => ({
    ...{ timestamp, sequenceNumber: i, contentType: i % 3, content },
    previous: i === 0 ? undefined : { timestamp, sequenceNumber: i - 1 },
    ...{ encryptionType: EncryptionType.none, groupKeyId: '' },
  }))
}

function sealedBatch(messages: readonly MessageDraft[], of = chain): MessageBatch {
  return buildBatch({ chain: of, messages: sealedCopies(messages, epochId, cipherOf(of)) }, crypto, identity)
}

describe('a sealed batch', () => {
  it('opens to what it was, in Node and in pages, with an overhead of 27 bytes, and below 12 each of 64', () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 50 }), { minLength: 1, maxLength: 64 })
    fc.assert(
      fc.property(contents, (given) => {
        const messages = drafts(given)
        const clear = buildBatch({ chain, messages }, crypto, identity)
        const batch = sealedBatch(messages)
        for (const ciphers of [nodeCiphers, pageCiphers]) {
          const opened = openBatch(batch, cipherOf(chain, ciphers))
          expect(opened?.map(({ content }) => [...content])).toEqual(given.map((content) => [...content]))
          expect(opened?.map(({ contentType }) => contentType)).toEqual(
            messages.map(({ contentType }) => contentType),
          )
        }
        // A length of content may take a byte more.
        const overhead = batch.bytes.length - clear.bytes.length
        expect(overhead).toBeLessThanOrEqual(16 + 11 * given.length + given.length)
      }),
      { numRuns: 50 },
    )
    const [one, many] = [[new Uint8Array(100)], Array.from({ length: 64 }, () => new Uint8Array(100))]
    const overheadOf = (given: Uint8Array[]) =>
      sealedBatch(drafts(given)).bytes.length -
      buildBatch({ chain, messages: drafts(given) }, crypto, identity).bytes.length
    expect(overheadOf(one)).toBe(27)
    expect(overheadOf(many) / 64).toBeLessThan(12)
  })

  it('shows its epoch and nothing of its contents', () => {
    const [message] = sealedBatch(drafts([Buffer.from('secret')])).messages
    expect(message).toMatchObject({ contentType: 0, encryptionType: 2, groupKeyId: epochId })
    expect(epochId).toMatch(/^[\w-]{8}$/)
    expect(Buffer.from(message?.content ?? []).includes('secret')).toBe(false)
  })

  it('does not open when a byte of any message changed, whoever signed it then', () => {
    const messages = drafts([Uint8Array.of(1, 2), Uint8Array.of(3), new Uint8Array(0)])
    const sealed = sealedCopies(messages, epochId, cipherOf(chain))
    const resigned = (changed: readonly MessageDraft[], of = chain) =>
      openBatch(buildBatch({ chain: of, messages: changed }, crypto, identity), cipherOf(of))
    expect(resigned(sealed)).toBeDefined()
    const change = (at: number, fields: Partial<MessageDraft>) =>
      sealed.map((message, i) => (i === at ? { ...message, ...fields } : message))
    const flipped = Uint8Array.from(sealed[0]?.content ?? [], (byte, i) => (i === 0 ? byte ^ 1 : byte))
    expect(resigned(change(0, { content: flipped }))).toBeUndefined()
    expect(resigned(change(0, { contentType: 1 }))).toBeUndefined()
    expect(resigned(change(2, { groupKeyId: 'AAAAAAAA' }))).toBeUndefined()
    expect(resigned(change(2, { extensions: [{ type: 1, bytes: Uint8Array.of(1) }] }))).toBeUndefined()
    expect(resigned(change(0, { previous: { timestamp: 1, sequenceNumber: 0 } }))).toBeUndefined()
    expect(resigned(sealed.slice(0, 2))).toBeUndefined()
    expect(resigned(sealed, { ...chain, partition: 1 })).toBeUndefined()
    expect(resigned(sealed, { ...chain, messageChainId: 'd' })).toBeUndefined()
  })

  it('of another publisher has another key', () => {
    const other = { ...chain, publisherId: toNodeId(`0x${'2'.repeat(40)}`) }
    const batch = sealedBatch(drafts([Uint8Array.of(1)]))
    expect(openBatch(batch, cipherOf(other))).toBeUndefined()
  })

  it('is known from the message that came in it', () => {
    const { bytes } = sealedBatch(drafts([Uint8Array.of(1), Uint8Array.of(2)]))
    const batch = decodeBatch(bytes)
    expect(batch.messages[1]?.batch).toBe(batch)
  })

  it('that its publisher sealed without a content type does not open', () => {
    const [message] = drafts([new Uint8Array(0)])
    const content = cipherOf(chain).seal(new Uint8Array(12), new Uint8Array(0), new Uint8Array(0))
    const empty = {
      ...message,
      encryptionType: 2,
      groupKeyId: epochId,
      contentType: 0,
      content,
    } as MessageDraft
    const batch = buildBatch({ chain, messages: [empty] }, crypto, identity)
    const opens = { ...cipherOf(chain), open: () => new Uint8Array(0) }
    expect(openBatch(batch, opens)).toBeUndefined()
  })
})
