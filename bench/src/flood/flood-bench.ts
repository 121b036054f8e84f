import type { NetworkNode } from '@runnel/network'
import { beginPhase, showProgress } from '../phase.ts'
import { messageNumber, Source, Swarm, type BenchTransport } from '../swarm.ts'
import { percentile, round } from '../statistics.ts'
import { unbatchedFloor } from '../unbatched-floor.ts'
import { bareFlood, type FloodFigures } from './bare-flood.ts'
import { listen, saturate } from './saturate.ts'

export interface FloodOptions {
  readonly transport: BenchTransport
  readonly verify: boolean
  readonly nodes: number
  readonly messages: number
}

/** The predecessor's figure on such a machine, for the reader: 16 nodes in one process over WebRTC, nothing verified. */
const predecessorDeliveriesPerS = 10_000
const batchMessages = 64

/**
 * One publisher, one stream part, everybody else a subscriber: throughput when saturated, and delays at 100 messages a second.
 * The overlay is random and settled, so that no edge is exchanged while it is measured.
 */
export async function floodBench({ transport, verify, nodes, messages }: FloodOptions) {
  const tenth = Math.ceil(messages / 10)
  const bareTransport = transport === 'websocket' ? 'websocket' : 'webrtc'
  beginPhase('bare flood, unpacked')
  const bareUnpackedUs = await bareUnpackedCpuUs(bareTransport, nodes, tenth)
  beginPhase('bare flood')
  const bare = await bareFlood(bareTransport, nodes, true)
  await bare.saturate(tenth)
  const bareFigures = await bare.saturate(messages)
  beginPhase('delays of the bare flood')
  const bareDelays = await bare.delays(300, 100)
  bare.close()

  beginPhase('overlay')
  const swarm = await Swarm.start({ transport, verify, overlay: 'random' })
  await swarm.grow(nodes)
  await swarm.settle()
  const source = new Source(swarm)
  beginPhase('flood')
  await saturate(swarm, source, tenth, batchMessages)
  const batched = await saturate(swarm, source, messages, batchMessages)
  beginPhase('flood, one message a batch')
  const unbatched = await saturate(swarm, source, tenth, 1)
  beginPhase('delays')
  const delays = await delaysAt(swarm, source, 300, 100)
  const refusedSends = refusedOf(swarm.nodes)
  await swarm.stop()
  const floor = verify ? unbatchedFloor(bareUnpackedUs, swarm.crypto) : undefined
  return {
    bench: 'flood',
    transport,
    verify,
    cryptoBackend: swarm.crypto.backend,
    nodes,
    messages,
    ...rounded(batched),
    timesPredecessor: round(batched.deliveriesPerS / predecessorDeliveriesPerS),
    unbatched: rounded(unbatched),
    at100PerS: { p50Ms: round(delays.p50), p99Ms: round(delays.p99) },
    refusedSends,
    baseline: {
      what: 'bare degree-4 flood over the same transport, packed, no codec, nothing verified',
      ...rounded(bareFigures),
      at100PerS: { p50Ms: round(bareDelays.p50), p99Ms: round(bareDelays.p99) },
      unbatchedFloor: floor ?? { what: 'the same, unpacked', us: round(bareUnpackedUs) },
    },
    ratio: {
      cpuPerDelivery: round(batched.cpuUsPerDelivery / bareFigures.cpuUsPerDelivery),
      unbatchedToFloor: round(unbatched.cpuUsPerDelivery / (floor?.us ?? bareUnpackedUs)),
    },
  }
}

async function bareUnpackedCpuUs(transport: 'webrtc' | 'websocket', nodes: number, messages: number) {
  const bare = await bareFlood(transport, nodes, false)
  await bare.saturate(messages)
  const { cpuUsPerDelivery } = await bare.saturate(messages)
  bare.close()
  return cpuUsPerDelivery
}

function rounded(figures: FloodFigures): FloodFigures {
  const { deliveriesPerS, cpuUsPerDelivery, duplicatesPerMessage } = figures
  return {
    deliveriesPerS: round(deliveriesPerS),
    cpuUsPerDelivery: round(cpuUsPerDelivery),
    duplicatesPerMessage: round(duplicatesPerMessage),
  }
}

/** Packets that a full queue refused: what they carried comes by other ways, and fewer duplicates come. */
function refusedOf(nodes: readonly NetworkNode[]): number {
  return nodes.reduce((sum, node) => sum + (node.metrics().counters['send.refused'] ?? 0), 0)
}

async function delaysAt(swarm: Swarm, source: Source, messages: number, perS: number) {
  const [publisher, ...subscribers] = swarm.nodes
  const sentMs = new Map<number, number>()
  const delaysMs: number[] = []
  showProgress(() => `${delaysMs.length} of ${messages * subscribers.length} deliveries`)
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
      publisher?.publish(source.next(1))
      if (--left === 0) clearInterval(timer)
    }, 1000 / perS)
  })
  return { p50: percentile(delaysMs, 0.5), p99: percentile(delaysMs, 0.99) }
}
