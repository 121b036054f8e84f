import { toStreamId, toStreamPartId, verifyBatch, type Crypto, type MessageBatch } from '@runnel/protocol'
import { cpuUs, round } from './statistics.ts'
import { newIdentity, Source } from './swarm.ts'

const verifications = 2_000

/**
 * The least that a message sent alone can take of a node that checks it, in microseconds of CPU: what the bare transport took, unpacked, and
 * one verification, which is measured here without anything else.
 */
export function unbatchedFloor(bareUs: number, crypto: Crypto) {
  const verificationUs = oneVerificationUs(crypto)
  return {
    what: `the bare transport, unpacked, and one verification (${crypto.backend}), measured alone in this run`,
    ...{ bareUs: round(bareUs), verificationUs: round(verificationUs) },
    us: round(bareUs + verificationUs),
  }
}

function oneVerificationUs(crypto: Crypto): number {
  const publisher = newIdentity(crypto)
  const streamPartId = toStreamPartId(toStreamId(`${publisher.nodeId}/alone`), 0)
  const source = new Source({ crypto, publisher, signer: publisher, streamPartId })
  const batches = Array.from({ length: verifications }, () => source.next(1))
  verifyAll(batches.slice(0, verifications / 10), crypto)
  const startUs = cpuUs()
  verifyAll(batches, crypto)
  return (cpuUs() - startUs) / verifications
}

function verifyAll(batches: readonly MessageBatch[], crypto: Crypto): void {
  if (!batches.every((batch) => verifyBatch(batch, crypto))) throw new Error('a signature is wrong')
}
