/** What runs in a page: sealing and opening there, and the cipher alone. */
import {
  buildBatch,
  ciphers,
  createIdentity,
  decodeBatch,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  type MessageBatch,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { atOnce, contentBytes, draftsOf, stepsWith } from './sealing.ts'

export interface PageStepsOptions {
  readonly perBatch: number
  readonly rounds: number
}

/** Of each round, microseconds a message. */
export interface PageSteps {
  readonly seal: readonly number[]
  readonly open: readonly number[]
  /** Sealing as many bytes, with as many beside them. */
  readonly cipher: readonly number[]
}

/** As in Node: more of them cost the garbage collector more than what is measured. */
const messagesAtOnce = 1024
const envelopeBytes = 27

async function pageSteps({ perBatch, rounds }: PageStepsOptions): Promise<PageSteps> {
  const crypto = await loadCrypto()
  const publisher = createIdentity(generatePrivateKey(systemRandom), crypto)
  const streamId = toStreamId(`${publisher.nodeId}/bench`)
  const chain = { streamId, partition: 0, publisherId: publisher.nodeId, messageChainId: 'bench' }
  const steps = stepsWith(ciphers, publisher.nodeId)
  const aead = ciphers.aead('chacha20-poly1305', systemRandom.bytes(32))
  const [nonce, plaintext] = [new Uint8Array(12), new Uint8Array(perBatch * (contentBytes + 1))]
  const associated = new Uint8Array(perBatch * envelopeBytes)
  // Signatures are no part of it.
  const signer = { sign: () => new Uint8Array(65) }
  const times = { seal: [] as number[], open: [] as number[], cipher: [] as number[] }
  for (let n = 0; n < rounds; n++) {
    const drafts = draftsOf(messagesAtOnce, perBatch)
    const sealed = timed(times.seal, () => drafts.map((batch) => atOnce(steps.seal(batch, chain))))
    timed(times.cipher, () => drafts.map(() => aead.seal(nonce, plaintext, associated)))
    const batches: readonly MessageBatch[] = sealed.map((messages) =>
      decodeBatch(buildBatch({ chain, messages }, crypto, signer).bytes),
    )
    timed(times.open, () =>
      batches.forEach(({ messages }) => messages.forEach((message) => atOnce(steps.open(message)))),
    )
  }
  return times
}

function timed<T>(times: number[], work: () => T): T {
  const startMs = performance.now()
  const result = work()
  times.push((1000 * (performance.now() - startMs)) / messagesAtOnce)
  return result
}

Object.assign(globalThis, { pageSteps })
