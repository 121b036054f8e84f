import {
  buildBatch,
  commitmentOf,
  ContentType,
  createIdentity,
  decodeBatch,
  EncryptionType,
  epochIdOf,
  generatePrivateKey,
  publisherKeyOf,
  toStreamId,
  verifyBatch,
  type Ciphers,
  type Crypto,
  type MessageBatch,
  type MessageDraft,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ContentSteps } from '../../../packages/client/src/content/content-steps.ts'
import { EncryptionStep } from '../../../packages/client/src/encryption/encryption-step.ts'
import { KnownKeys } from '../../../packages/client/src/encryption/known-keys.ts'
import type { StreamEncryption } from '../../../packages/client/src/encryption/stream-encryption.ts'
import { cpuUs, percentile, round } from '../statistics.ts'

export interface SealCostsOptions {
  readonly perBatch: number
  /** Of each round. */
  readonly messages: number
  /** Each of a run in the clear and one that is encrypted. */
  readonly rounds: number
}

/** Microseconds of CPU for each message. */
interface Costs {
  readonly seal: number
  readonly publish: number
  readonly receive: number
  readonly open: number
  /** Of batches, without what the transport adds. */
  readonly bytes: number
}

const contentBytes = 100
/** Made and taken apart together; a multiple of every batch size. */
const messagesAtOnce = 1024

/**
 * What a message costs its publisher and a subscriber: to be sealed and opened by the client's content step, and, beside that, to be put
 * into a batch, signed, decoded and verified. The medians of all rounds.
 */
export function sealCosts(crypto: Crypto, ciphers: Ciphers, options: SealCostsOptions) {
  const rounds = Array.from({ length: options.rounds + 1 }, () => ({
    clear: costsOf(crypto, undefined, options),
    sealed: costsOf(crypto, ciphers, options),
  })).slice(1)
  const median = (value: (one: (typeof rounds)[number]) => number) => percentile(rounds.map(value), 0.5)
  const total = ({ seal, publish, receive, open }: Costs) => seal + publish + receive + open
  return {
    ratio: round(median(({ clear, sealed }) => total(sealed) / total(clear))),
    sealCpuUs: round(median(({ sealed }) => sealed.seal)),
    openCpuUs: round(median(({ sealed }) => sealed.open)),
    addedBytes: round(median(({ clear, sealed }) => sealed.bytes - clear.bytes)),
    allCpuUs: round(median(({ sealed }) => total(sealed))),
    clear: { allCpuUs: round(median(({ clear }) => total(clear))) },
  }
}

/** In the clear without ciphers. */
function costsOf(
  crypto: Crypto,
  ciphers: Ciphers | undefined,
  { perBatch, messages }: SealCostsOptions,
): Costs {
  const publisher = createIdentity(generatePrivateKey(systemRandom), crypto)
  const streamId = toStreamId(`${publisher.nodeId}/bench`)
  const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: 'bench' }
  const step = ciphers && stepWith(ciphers, publisher.nodeId)
  const steps = new ContentSteps(step === undefined ? [] : [step], new AbortController().signal)
  const sum = { seal: 0, publish: 0, receive: 0, open: 0, bytes: 0 }
  // Some batches at a time, as they come and go: what is kept for long costs the garbage collector more.
  for (let done = 0; done < messages; done += messagesAtOnce) {
    const drafts = draftsOf(messagesAtOnce, perBatch)
    const [sealed, seal] = measured(() => drafts.map((batch) => atOnce(steps.seal(batch, chain))))
    const [batches, publish] = measured(() =>
      sealed.map((one) => buildBatch({ chain, messages: one }, crypto, publisher)),
    )
    const [received, receive] = measured(() =>
      batches.map(({ bytes }) => verified(decodeBatch(bytes), crypto)),
    )
    const [, open] = measured(() =>
      received.forEach(({ messages }) => messages.forEach((message) => opened(steps, message))),
    )
    const bytes = batches.reduce((all, batch) => all + batch.bytes.length, 0)
    const costs = { seal, publish, receive, open, bytes }
    for (const name of Object.keys(sum) as (keyof Costs)[]) sum[name] += costs[name] / messages
  }
  return sum
}

function measured<T>(work: () => T): readonly [T, number] {
  const startUs = cpuUs()
  const result = work()
  return [result, cpuUs() - startUs]
}

function verified(batch: MessageBatch, crypto: Crypto): MessageBatch {
  if (!verifyBatch(batch, crypto)) throw new Error('a signature is wrong')
  return batch
}

function opened(steps: ContentSteps, message: MessageBatch['messages'][number]): void {
  if (atOnce(steps.open(message)).content.length !== contentBytes) throw new Error('not opened')
}

/** The content step of a client that has one key, which seals and opens everything. */
function stepWith(ciphers: Ciphers, publisherId: Parameters<typeof publisherKeyOf>[2]): EncryptionStep {
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

function atOnce<T>(value: T | Promise<T>): T {
  if (value instanceof Promise) throw new Error('a key is missing')
  return value
}

/** Messages a millisecond apart, in batches; of the shape that a client's outbox gives them. */
function draftsOf(messages: number, perBatch: number): (readonly MessageDraft[])[] {
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
