import { expect, it } from 'vitest'
import { partId, Swarm, TestPublisher } from '../network.testkit.ts'

it('brings all that a node publishes which may not read, however fast', async () => {
  const swarm = new Swarm()
  const readers = await swarm.grow(3)
  const feeder = swarm.make('feeder')
  await feeder.node.start()
  feeder.node.join(partId, { reads: false })
  swarm.clock.advanceBy(5_000)
  const publisher = new TestPublisher('feeder', swarm.clock)
  const texts = Array.from({ length: 100 }, (_, i) => String(i))
  for (const text of texts) {
    feeder.node.publish(publisher.next(text))
    swarm.clock.advanceBy(100)
  }
  for (const reader of readers) {
    expect(reader.texts()).toEqual(texts)
    expect(reader.node.metrics().counters).toMatchObject({ 'data.unknownAlias': 0, 'fetch.sent': 0 })
  }
})
