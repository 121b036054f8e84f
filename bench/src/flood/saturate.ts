import type { NetworkNode } from '@runnel/network'
import { showProgress } from '../phase.ts'
import { settled } from '../settling.ts'
import { cpuUs } from '../statistics.ts'
import type { Source, Swarm } from '../swarm.ts'
import type { FloodFigures } from './bare-flood.ts'

/** So long after the last one no duplicate is on its way any more. */
const defaultQuietMs = 500

export interface SwarmFigures extends FloodFigures {
  /** From the first `publish` to the last delivery. */
  readonly firstCopiesMs: number
}

/** Publishes as fast as the nodes take it, and waits for all deliveries and their duplicates. */
export async function saturate(
  swarm: Swarm,
  source: Source,
  messages: number,
  perBatch: number,
  quietMs = defaultQuietMs,
): Promise<SwarmFigures> {
  const [publisher, ...subscribers] = swarm.nodes
  if (!publisher) throw new Error('a swarm without nodes')
  const expected = messages * subscribers.length
  let delivered = 0
  showProgress(() => `${delivered} of ${expected} deliveries`)
  let finished = () => {}
  const done = new Promise<void>((resolve) => (finished = resolve))
  const stop = listen(subscribers, () => ++delivered === expected && finished())
  const duplicatesBefore = duplicatesOf(swarm.nodes)
  const startMs = performance.now()
  const startUs = cpuUs()
  for (let left = messages; left > 0; left -= perBatch) {
    if (!publisher.publish(source.next(Math.min(perBatch, left))))
      await publisher.writable(swarm.streamPartId)
    if ((messages - left) % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  const firstCopiesMs = performance.now() - startMs
  stop()
  // A flood is over when its duplicates have arrived too: they cost as well. Of what a queue refused there are none.
  const duplicatesDue = duplicatesBefore + messages * duplicatesOfOne(swarm)
  const progress = () => duplicatesOf(swarm.nodes)
  const { endMs } = await settled({ isDone: () => progress() >= duplicatesDue, progress, quietMs })
  return {
    firstCopiesMs,
    deliveriesPerS: (expected / Math.max(firstCopiesMs, endMs - startMs)) * 1000,
    cpuUsPerDelivery: (cpuUs() - startUs) / expected,
    duplicatesPerMessage: (duplicatesOf(swarm.nodes) - duplicatesBefore) / messages,
  }
}

/** Each node but the source passes a message to all but one of its neighbours; what is no delivery is a duplicate. */
function duplicatesOfOne(swarm: Swarm): number {
  const ends = swarm.nodes.reduce(
    (sum, node) => sum + (node.metrics().streamParts[0]?.neighbours.length ?? 0),
    0,
  )
  return ends - 2 * (swarm.nodes.length - 1)
}

function duplicatesOf(nodes: readonly NetworkNode[]): number {
  return nodes.reduce((sum, node) => sum + (node.metrics().streamParts[0]?.duplicates ?? 0), 0)
}

/** Calls back on each delivery at each subscriber; the returned function stops that. */
export function listen(nodes: readonly NetworkNode[], onDelivery: (content: Uint8Array) => void): () => void {
  const stops = nodes.map((node) => node.on('message', ({ message }) => onDelivery(message.content)))
  return () => stops.forEach((stop) => stop())
}
