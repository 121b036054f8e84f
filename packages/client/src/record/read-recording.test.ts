import {
  buildBatch,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  seededRandom,
  toStreamId,
  urgentExtensionOf,
} from '@runnel/protocol'
import { expect, it } from 'vitest'
import type { Message } from '../subscribe/message.ts'
import { readRecording, type RecordingReaderModules } from './read-recording.ts'
import { encodeRecorded, recordingHeaders } from './recording-content.ts'

const crypto = await loadCrypto()
const publisher = createIdentity(generatePrivateKey(seededRandom('recording')), crypto)

/** A message of a recording with one urgent message in it. */
async function* recorded(): AsyncGenerator<Message> {
  const streamId = toStreamId(`${publisher.nodeId}/room`)
  const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: '!one' }
  const urgent = { lifetimeMs: 1_000, priority: 1, group: 0, object: 0, order: 'oldest' } as const
  const message = {
    ...{ timestamp: 1, sequenceNumber: 0, previous: undefined, contentType: 2, encryptionType: 0 },
    ...{ groupKeyId: '', extensions: [urgentExtensionOf(urgent)], content: new Uint8Array(1) },
  }
  const { bytes } = buildBatch({ chain, messages: [message] }, crypto, publisher)
  const content = encodeRecorded({ delegations: [], batches: [bytes] })
  yield { headers: recordingHeaders, content, timestamp: 2 } as Partial<Message> as Message
}

it('ends when it is aborted while a key is waited for', async () => {
  const waits = Promise.withResolvers<void>()
  const modules = {
    check: { check: () => 'good' },
    steps: {
      open() {
        waits.resolve()
        return new Promise(() => {})
      },
    },
  } as Partial<RecordingReaderModules> as RecordingReaderModules
  const reader = new AbortController()
  const undecodable: unknown[] = []
  const onUndecodable = (one: unknown) => undecodable.push(one)
  const reading = readRecording(recorded(), { signal: reader.signal, onUndecodable }, modules).next()
  await waits.promise
  reader.abort()
  await expect(reading).rejects.toMatchObject({ code: 'ABORTED' })
  expect(undecodable).toEqual([])
})
