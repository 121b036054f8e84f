import {
  buildBatch,
  createIdentity,
  decodeBatch,
  generatePrivateKey,
  toStreamId,
  verifyBatch,
  type Ciphers,
  type Crypto,
  type MessageBatch,
} from '@runnel/protocol'
import { setImmediate } from 'node:timers/promises'
import { systemRandom } from '@runnel/protocol/system'
import type { ContentSteps } from '../../../packages/client/src/content/content-steps.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { atOnce, contentBytes, draftsOf, stepsWith } from './sealing.ts'

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

/** Made and taken apart together; a multiple of every batch size. */
const messagesAtOnce = 1024

/**
 * What a message costs its publisher and a subscriber: to be sealed and opened by the client's content step, and, beside that, to be put
 * into a batch, signed, decoded and verified. The medians of all rounds.
 */
export async function sealCosts(crypto: Crypto, ciphers: Ciphers, options: SealCostsOptions) {
  const rounds: { readonly clear: Costs; readonly sealed: Costs }[] = []
  for (let round = 0; round <= options.rounds; round++) {
    const [clear, sealed] = [costsOf(crypto, undefined, options), costsOf(crypto, ciphers, options)]
    if (round > 0) rounds.push({ clear, sealed })
    // Whoever interrupts it, and the limit, are heard between rounds.
    await setImmediate()
  }
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
  const steps = stepsWith(ciphers, publisher.nodeId)
  const sum = { seal: 0, publish: 0, receive: 0, open: 0, bytes: 0 }
  const made = Math.ceil(messages / messagesAtOnce) * messagesAtOnce
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
    for (const name of Object.keys(sum) as (keyof Costs)[]) sum[name] += costs[name] / made
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
