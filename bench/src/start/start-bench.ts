import { Worker } from 'node:worker_threads'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  responsibleTrackers,
  toStreamId,
  toStreamPartId,
  type Crypto,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createNetworkNode, type NetworkNode, type TrackerAddress } from '@runnel/network'
import { createTracker, type Tracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { settled } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import { newIdentity } from '../swarm.ts'

const nodesPerNetwork = 6
const degree = 4
const system = { clock: systemClock, random: systemRandom }

export interface StartBenchOptions {
  readonly networks: number
  readonly trackers: number
  /** Threads that do nothing but keep a processor busy meanwhile. */
  readonly busy: number
  /** A network that is not complete by then counts as late, in seconds. */
  readonly limitS: number
}

/**
 * Networks that start all at once: nodes join while the trackers are still finding each other, so some report to one that does
 * not lead. Measures the time until each of six nodes has four neighbours in one overlay; the baseline is the same with one
 * tracker, which has no others to find.
 */
export async function startBench(options: StartBenchOptions) {
  const { networks, trackers, busy, limitS } = options
  const crypto = await loadCrypto()
  const stopBusy = keepBusy(busy)
  const timesMs: number[] = []
  const aloneMs: number[] = []
  for (let i = 0; i < networks; i++) {
    beginPhase(`network ${i + 1} of ${networks}, ${trackers} trackers`)
    timesMs.push(await startOne(trackers, limitS, crypto))
    beginPhase(`network ${i + 1} of ${networks}, one tracker`)
    aloneMs.push(await startOne(1, limitS, crypto))
  }
  await stopBusy()
  const figures = (times: readonly number[]) => ({
    p50: round(percentile(times, 0.5)),
    p95: round(percentile(times, 0.95)),
    max: round(Math.max(...times)),
    late: times.filter((ms) => ms >= limitS * 1_000).length,
  })
  return {
    ...{ bench: 'start', networks, trackers, nodes: nodesPerNetwork, busy },
    completeMs: figures(timesMs),
    baseline: { what: 'the same with one tracker', completeMs: figures(aloneMs) },
    ratio: { p50: round(percentile(timesMs, 0.5) / percentile(aloneMs, 0.5)) },
  }
}

/** Milliseconds until the network is complete; the limit when it is not by then. */
async function startOne(count: number, limitS: number, crypto: Crypto): Promise<number> {
  const startMs = performance.now()
  const trackers = await startTrackers(count, crypto)
  const addresses = trackers.map(({ nodeId, url }) => ({ nodeId, url }))
  const nodes = Array.from({ length: nodesPerNetwork }, () => newNode(addresses, crypto))
  const id = toStreamPartId(toStreamId(`${newIdentity(crypto).nodeId}/start`), 0)
  await Promise.all(nodes.map((node) => startNode(node, id)))
  const ends = () => nodes.map((node) => node.metrics().streamParts[0]?.neighbours.length ?? 0)
  showProgress(() => `neighbours ${ends().join(' ')} of ${degree} each`)
  const { done, endMs } = await settled({
    isDone: () => ends().every((neighbours) => neighbours === degree),
    progress: () => 0,
    quietMs: limitS * 1_000,
  })
  await Promise.all(nodes.map((node) => node.stop()))
  await Promise.all(trackers.map((tracker) => tracker.stop()))
  return done ? endMs - startMs : limitS * 1_000
}

async function startTrackers(count: number, crypto: Crypto): Promise<Tracker[]> {
  const listeners = new Set<() => void>()
  const registry = {
    trackers: [] as readonly TrackerAddress[],
    onChange: (listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ownTrackers: () => Promise.resolve([]),
  }
  const trackers = Array.from({ length: count }, () => {
    const privateKey = generatePrivateKey(systemRandom)
    const identity = createIdentity(privateKey, crypto)
    const options = { listen: { host: '127.0.0.1', port: 0 }, degree, overlay: 'random' as const }
    return createTracker({ ...options, cluster: { privateKey } }, { ...system, identity, crypto, registry })
  })
  for (const tracker of trackers) {
    await tracker.start()
    registry.trackers = [...registry.trackers, { nodeId: tracker.nodeId, url: tracker.url }]
    for (const listener of listeners) listener()
  }
  return trackers
}

function newNode(trackers: readonly TrackerAddress[], crypto: Crypto): NetworkNode {
  const byId = new Map<NodeId, TrackerAddress>(trackers.map((address) => [address.nodeId, address]))
  const trackersFor = (id: StreamPartId) =>
    responsibleTrackers(id, [...byId.keys()], byId.size).flatMap((each) => byId.get(each) ?? [])
  return createNetworkNode(
    { transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } },
    {
      ...{ ...system, crypto, identity: newIdentity(crypto) },
      publisherPolicy: { check: () => 'allowed', resolve: async () => {} },
      trackers: { trackersFor, onChange: () => () => {} },
    },
  )
}

async function startNode(node: NetworkNode, id: StreamPartId): Promise<void> {
  await node.start()
  node.join(id)
}

/** Keeps so many threads running in circles, until the function it returns is called. */
function keepBusy(threads: number): () => Promise<void> {
  const workers = Array.from({ length: threads }, () => new Worker('for (;;) {}', { eval: true }))
  return async () => {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
}
