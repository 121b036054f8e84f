import {
  openVerification,
  toStreamId,
  toStreamPartId,
  type Crypto,
  type MessageBatch,
  type VerificationPool,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { setTimeout as pause } from 'node:timers/promises'
import { round } from '../statistics.ts'
import { newIdentity, Source } from '../swarm.ts'

const batches = 20_000
/** What a thread of the pool takes at once. */
const batchesAtOnce = 4_096

/** What two cores can be at most: single messages that one thread verifies in a second, and two threads at once, with nothing else to do. */
export async function bareVerification(crypto: Crypto) {
  const publisher = newIdentity(crypto)
  const streamPartId = toStreamPartId(toStreamId(`${publisher.nodeId}/bare`), 0)
  const source = new Source({ crypto, publisher, signer: publisher, streamPartId })
  const signed = Array.from({ length: 1_000 }, () => source.next(1))
  const [one, two] = [await verifiedPerS(1, signed), await verifiedPerS(2, signed)]
  return {
    what: 'the same verification in one thread, and in two at once, without any node',
    ...{ oneThreadPerS: round(one), twoThreadsPerS: round(two), ratio: round(two / one) },
  }
}

async function verifiedPerS(threads: number, signed: readonly MessageBatch[]): Promise<number> {
  const pool = openVerification(threads, systemClock)
  if (pool === undefined) throw new Error('no pool')
  // More than one thread takes before another is ready.
  await verifyAll(pool, signed, threads * batchesAtOnce)
  const startMs = performance.now()
  await verifyAll(pool, signed, batches)
  pool.stop()
  return (1_000 * batches) / (performance.now() - startMs)
}

/** As many as the pool takes at once, again and again. */
async function verifyAll(
  pool: VerificationPool,
  signed: readonly MessageBatch[],
  count: number,
): Promise<void> {
  let [asked, answered] = [0, 0]
  const onVerdict = (): void => void answered++
  while (answered < count) {
    for (; asked < count; asked++) {
      const batch = signed[asked % signed.length] as MessageBatch
      if (!pool.verify(batch, batch.chain.publisherId, onVerdict)) break
    }
    // A thread has hundreds of milliseconds of work: this one leaves it the core.
    await pause(1)
  }
}
