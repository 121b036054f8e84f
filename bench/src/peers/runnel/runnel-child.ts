import { listen } from '../../flood/saturate.ts'
import { messageNumber, Source, Swarm, type BenchTransport } from '../../swarm.ts'
import { drive } from '../driver.ts'

/** Production nodes and a tracker, with the settings that they have by default, but for an overlay that is settled when it is measured. */
drive(async ({ nodes, variant }, onDelivery) => {
  const transport = variant['transport'] as BenchTransport
  const perBatch = variant['perBatch'] as number
  const swarm = await Swarm.start({ transport, verify: true, overlay: 'random', thinFloods: true })
  await swarm.grow(nodes)
  await swarm.settle()
  const [publisher, ...subscribers] = swarm.nodes
  if (publisher === undefined) throw new Error('no node')
  const source = new Source(swarm)
  listen(subscribers, (content) => onDelivery(messageNumber(content)))
  return {
    async publish(first, count) {
      // The source counts for itself, from nought as the driver does.
      if (source.count !== first) throw new Error(`message ${source.count} is asked for as ${first}`)
      for (let left = count; left > 0; left -= perBatch) {
        if (!publisher.publish(source.next(Math.min(perBatch, left))))
          await publisher.writable(swarm.streamPartId)
      }
    },
    duplicates: () =>
      swarm.nodes.reduce((sum, node) => sum + (node.metrics().streamParts[0]?.duplicates ?? 0), 0),
    async join(onMessage) {
      const node = swarm.createNode()
      node.on('message', onMessage)
      await node.start()
      node.join(swarm.streamPartId)
      return () => node.stop()
    },
    stop: () => swarm.stop(),
  }
})
