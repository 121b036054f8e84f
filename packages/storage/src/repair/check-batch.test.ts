import {
  buildBatch,
  ContentType,
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  openVerification,
  seededRandom,
  type MessageBatch,
  type VerificationPool,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { afterAll, describe, expect, it } from 'vitest'
import { TestDelegations } from '../delegations.testkit.ts'
import { KnownDelegations } from '../known-delegations.ts'
import { TestClock } from '../storage.testkit.ts'
import { at, chainOf, nodeId, partOf } from '../store/batches.testkit.ts'
import { checkBatch, type CheckModules } from './check-batch.ts'

const crypto = await loadCrypto()
const publisher = createIdentity(generatePrivateKey(seededRandom('check')), crypto)
const stranger = createIdentity(generatePrivateKey(seededRandom('stranger')), crypto)
const place = { streamPartId: partOf(0), from: nodeId(2) }

/** Its sequence number makes each another one. */
function batchBy(signer: typeof publisher, sequenceNumber = 0): MessageBatch {
  const message = { ...at(1, sequenceNumber), previous: undefined, contentType: ContentType.binary }
  const rest = { encryptionType: 0, groupKeyId: '', content: new Uint8Array(10) }
  return buildBatch(
    { chain: chainOf('chain', publisher.nodeId), messages: [{ ...message, ...rest }] },
    crypto,
    signer,
  )
}

/** With a content that nobody signed. */
function forged(): Uint8Array {
  const { bytes, messageOffsets } = batchBy(publisher)
  const last = (messageOffsets[1] ?? 0) - 1
  return bytes.map((byte, i) => (i === last ? byte ^ 1 : byte))
}

/** Checks as a node with this pool does, and says about whom the registry was asked. */
function checker(verification: VerificationPool | undefined) {
  const node = new TestDelegations()
  const asked: string[] = []
  const modules: CheckModules = {
    policy: {
      check: (_, publisherId) => (asked.push(publisherId), 'allowed'),
      resolve: () => Promise.resolve(),
    },
    endings: { validUntilMs: () => Promise.resolve(Infinity) },
    ...{ delegations: node, known: new KnownDelegations(node), crypto, clock: new TestClock(), verification },
  }
  return {
    asked,
    isGood: async (bytes: Uint8Array) => (await checkBatch(bytes, place, modules)) !== undefined,
  }
}

/** A pool whose workers are ready: it takes what it is given. */
async function readyPool(): Promise<VerificationPool> {
  const pool = openVerification(1, systemClock) as VerificationPool
  const batch = batchBy(publisher)
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<boolean | undefined>()
    if (pool.verify(batch, publisher.nodeId, resolve) && (await promise) === true) return pool
    await new Promise((again) => setImmediate(again))
  }
}

const pool = await readyPool()
afterAll(() => pool.stop())
const stopped = openVerification(1, systemClock)
stopped?.stop()

describe.each([
  ['on this thread', undefined],
  ['by a worker', pool],
  ['where no worker takes any', stopped],
])('checkBatch %s', (_, verification) => {
  it('takes what its publisher signed, and nothing else', async () => {
    const { isGood, asked } = checker(verification)
    expect(await isGood(batchBy(publisher).bytes)).toBe(true)
    expect(new Set(asked)).toEqual(new Set([publisher.nodeId]))
    asked.length = 0
    expect(await isGood(batchBy(stranger).bytes)).toBe(false)
    expect(await isGood(forged())).toBe(false)
    expect(asked, 'nobody is asked about who signed nothing').toEqual([])
  })
})

it('checks on this thread what a pool had taken when it stopped', async () => {
  const ending = await readyPool()
  const { isGood } = checker(ending)
  const good = [0, 1, 2, 3].map((n) => isGood(batchBy(publisher, n).bytes))
  const bad = isGood(batchBy(stranger, 4).bytes)
  ending.stop()
  expect(await Promise.all(good)).toEqual([true, true, true, true])
  expect(await bad).toBe(false)
})
