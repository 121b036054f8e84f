import type { NetworkNode } from '@runnel/network'
import { settled, within } from '../settling.ts'
import { messageNumber, Source, Swarm, type BenchTransport } from '../swarm.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { bareFlood, type FloodFigures } from './bare-flood.ts'

export interface FloodOptions {
  readonly transport: BenchTransport
  readonly verify: boolean
  readonly nodes: number
  readonly messages: number
  /** It fails when it takes longer. */
  readonly limitS: number
}

/** The predecessor's figure on such a machine, for the reader: 16 nodes in one process over WebRTC, nothing verified. */
const predecessorDeliveriesPerS = 10_000
const batchMessages = 64

/** So long after the last one no duplicate is on its way any more. */
const quietMs = 500

/**
 * One publisher, one stream part, everybody else a subscriber: throughput when saturated, and delays at 100 messages a second.
 * The overlay is random and settled, so that no edge is exchanged while it is measured.
 */
export function floodBench(options: FloodOptions) {
  return within(1000 * options.limitS, 'the benchmark', measure(options))
}

async function measure({ transport, verify, nodes, messages, limitS }: FloodOptions) {
  const bare = await bareFlood(transport === 'websocket' ? 'websocket' : 'webrtc', nodes, 4)
  await bare.saturate(messages / 10)
  const bareFigures = await bare.saturate(messages)
  const bareDelays = await bare.delays(300, 100)
  bare.close()

  const swarm = await Swarm.start({ transport, verify, overlay: 'random' })
  await swarm.grow(nodes)
  await swarm.settle()
  const source = new Source(swarm)
  await saturate(swarm, source, messages / 10, batchMessages)
  const batched = await saturate(swarm, source, messages, batchMessages)
  const unbatched = await saturate(swarm, source, messages / 10, 1)
  const delays = await delaysAt(swarm, source, 300, 100)
  const refusedSends = refusedOf(swarm.nodes)
  await swarm.stop()
  return {
    bench: 'flood',
    transport,
    verify,
    cryptoBackend: swarm.crypto.backend,
    nodes,
    messages,
    limitS,
    ...rounded(batched),
    timesPredecessor: round(batched.deliveriesPerS / predecessorDeliveriesPerS),
    unbatched: rounded(unbatched),
    at100PerS: { p50Ms: round(delays.p50), p99Ms: round(delays.p99) },
    refusedSends,
    baseline: {
      what: 'bare degree-4 flood over the same transport, packed, no codec, nothing verified',
      ...rounded(bareFigures),
      at100PerS: { p50Ms: round(bareDelays.p50), p99Ms: round(bareDelays.p99) },
    },
    ratio: { cpuPerDelivery: round(batched.cpuUsPerDelivery / bareFigures.cpuUsPerDelivery) },
  }
}

function rounded(figures: FloodFigures): FloodFigures {
  const { deliveriesPerS, cpuUsPerDelivery, duplicatesPerMessage } = figures
  return {
    deliveriesPerS: round(deliveriesPerS),
    cpuUsPerDelivery: round(cpuUsPerDelivery),
    duplicatesPerMessage: round(duplicatesPerMessage),
  }
}

/** Calls back on each delivery at each subscriber; the returned function stops that. */
function listen(nodes: readonly NetworkNode[], onDelivery: (content: Uint8Array) => void): () => void {
  const stops = nodes.map((node) => node.on('message', ({ message }) => onDelivery(message.content)))
  return () => stops.forEach((stop) => stop())
}

/** Each node but the source passes a message to all but one of its neighbours; what is no delivery is a duplicate. */
function duplicatesOfOne(swarm: Swarm): number {
  const ends = swarm.nodes.reduce(
    (sum, node) => sum + (node.metrics().streamParts[0]?.neighbours.length ?? 0),
    0,
  )
  return ends - 2 * (swarm.nodes.length - 1)
}

/** Packets that a full queue refused: what they carried comes by other ways, and fewer duplicates come. */
function refusedOf(nodes: readonly NetworkNode[]): number {
  return nodes.reduce((sum, node) => sum + (node.metrics().counters['send.refused'] ?? 0), 0)
}

function duplicatesOf(nodes: readonly NetworkNode[]): number {
  return nodes.reduce((sum, node) => sum + (node.metrics().streamParts[0]?.duplicates ?? 0), 0)
}

async function saturate(
  swarm: Swarm,
  source: Source,
  messages: number,
  perBatch: number,
): Promise<FloodFigures> {
  const [publisher, ...subscribers] = swarm.nodes
  if (!publisher) throw new Error('a swarm without nodes')
  const expected = messages * subscribers.length
  let delivered = 0
  let finished = () => {}
  const done = new Promise<void>((resolve) => (finished = resolve))
  const stop = listen(subscribers, () => ++delivered === expected && finished())
  const duplicatesBefore = duplicatesOf(swarm.nodes)
  const startMs = performance.now()
  const startUs = cpuUs()
  for (let left = messages; left > 0; left -= perBatch) {
    if (!publisher.publish(source.next(Math.min(perBatch, left)).bytes))
      await publisher.writable(swarm.streamPartId)
    if (left % 64 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await done
  stop()
  // A flood is over when its duplicates have arrived too: they cost as well. Of what a queue refused there are none.
  const duplicatesDue = duplicatesBefore + messages * duplicatesOfOne(swarm)
  const progress = () => duplicatesOf(swarm.nodes)
  await settled({ isDone: () => progress() >= duplicatesDue, progress, quietMs })
  return {
    deliveriesPerS: (expected / (performance.now() - startMs)) * 1000,
    cpuUsPerDelivery: (cpuUs() - startUs) / expected,
    duplicatesPerMessage: (duplicatesOf(swarm.nodes) - duplicatesBefore) / messages,
  }
}

async function delaysAt(swarm: Swarm, source: Source, messages: number, perS: number) {
  const [publisher, ...subscribers] = swarm.nodes
  const sentMs = new Map<number, number>()
  const delaysMs: number[] = []
  await new Promise<void>((resolve) => {
    const stop = listen(subscribers, (content) => {
      delaysMs.push(performance.now() - (sentMs.get(messageNumber(content)) ?? Number.NaN))
      if (delaysMs.length < messages * subscribers.length) return
      stop()
      resolve()
    })
    let left = messages
    const timer = setInterval(() => {
      // The clock starts before the signature: a delay is what an application sees.
      sentMs.set(source.count, performance.now())
      publisher?.publish(source.next(1).bytes)
      if (--left === 0) clearInterval(timer)
    }, 1000 / perS)
  })
  return { p50: percentile(delaysMs, 0.5), p99: percentile(delaysMs, 0.99) }
}
