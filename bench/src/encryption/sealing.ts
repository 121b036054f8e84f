import {
  commitmentOf,
  ContentType,
  EncryptionType,
  epochIdOf,
  publisherKeyOf,
  type Ciphers,
  type MessageDraft,
  type NodeId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ContentSteps } from '../../../packages/client/src/content/content-steps.ts'
import { EncryptionStep } from '../../../packages/client/src/encryption/encryption-step.ts'
import { KnownKeys } from '../../../packages/client/src/encryption/known-keys.ts'
import type { StreamEncryption } from '../../../packages/client/src/encryption/stream-encryption.ts'

export const contentBytes = 100

/** The content steps of a client that has one key, which seals and opens everything; without ciphers none. */
export function stepsWith(ciphers: Ciphers | undefined, publisherId: NodeId): ContentSteps {
  const { signal } = new AbortController()
  return new ContentSteps(ciphers === undefined ? [] : [encryptionWith(ciphers, publisherId)], signal)
}

function encryptionWith(ciphers: Ciphers, publisherId: NodeId): EncryptionStep {
  const key = systemRandom.bytes(32)
  const known = new KnownKeys({ ciphers })
  known.add(key)
  const id = epochIdOf(commitmentOf(ciphers, key))
  const epoch = { id, publisherKey: publisherKeyOf(ciphers, key, publisherId) }
  const stream = { known } as StreamEncryption
  return new EncryptionStep({
    ciphers,
    sealingNow: () => epoch,
    sealing: () => Promise.resolve(epoch),
    streamNow: () => stream,
    stream: () => Promise.resolve(stream),
    signal: new AbortController().signal,
  })
}

/** What needs no key that is still to be found. */
export function atOnce<T>(value: T | Promise<T>): T {
  if (value instanceof Promise) throw new Error('a key is missing')
  return value
}

/** Messages a millisecond apart, in batches; of the shape that a client's outbox gives them. */
export function draftsOf(messages: number, perBatch: number): (readonly MessageDraft[])[] {
  let timestamp = Date.UTC(2026, 0)
  const next = (_: unknown, i: number): MessageDraft => ({
    timestamp: timestamp++,
    sequenceNumber: 0,
    previous: i === 0 ? undefined : { timestamp: timestamp - 2, sequenceNumber: 0 },
    contentType: ContentType.binary,
    encryptionType: EncryptionType.none,
    groupKeyId: '',
    extensions: undefined,
    content: systemRandom.bytes(contentBytes),
  })
  const batch = () => Array.from({ length: perBatch }, next)
  return Array.from({ length: Math.ceil(messages / perBatch) }, batch)
}
