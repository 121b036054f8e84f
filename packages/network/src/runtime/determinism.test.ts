import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { Swarm, TestPublisher } from '../network.testkit.ts'

/** Who delivered what, when and from whom, in a swarm that grows, loses links and publishes. */
async function traceHash(seed: string): Promise<string> {
  const swarm = new Swarm({ seed, latencyMs: 10, jitterMs: 20 })
  const trace = createHash('sha256')
  const members = await swarm.grow(10)
  let delivered = 0
  for (const { name, node } of members) {
    node.on('message', ({ message, from }) => {
      delivered++
      trace.update(
        `${swarm.clock.monotonicMs()} ${name} ${from} ${message.timestamp} ${message.sequenceNumber}\n`,
      )
    })
  }
  const publisher = new TestPublisher('publisher', swarm.clock)
  for (let i = 0; i < 40; i++) {
    members[i % 3]?.node.publish(publisher.next(`message ${i}`))
    if (i === 20 && members[5] !== undefined) swarm.network.breakLinks(members[5].node.nodeId)
    swarm.clock.advanceBy(35)
  }
  swarm.clock.advanceBy(20_000)
  expect(delivered).toBe(400)
  return trace.digest('hex')
}

describe('a run on the virtual clock', () => {
  it('is the same for the same seed, and another for another', async () => {
    const first = await traceHash('a')
    expect(await traceHash('a')).toBe(first)
    expect(await traceHash('b')).not.toBe(first)
  })
})
