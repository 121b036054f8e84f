import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'

export interface RequestBenchOptions {
  readonly nodes: number
  /** Drawn one after the other: how many links are between who asks and who answers is chance. */
  readonly overlays: number
  /** In each overlay, of each: messages one way, and requests with their replies. */
  readonly requests: number
  readonly limitS: number
}

/** Requests before those that are measured: they join, and compile. */
const warmUp = 50
/** Between two measurements, so that nothing of the one before is still on its way. */
const restMs = 20

/**
 * How long a request takes until its reply is there, among nodes of which each is a client with a link to some others by WebSocket; beside
 * the way of a message through the same overlay, in turns. Of several overlays the one whose requests take the median over two ways.
 */
export function requestBench({ limitS, ...size }: RequestBenchOptions) {
  return within(limitS * 1000, 'asking', medianOf(size))
}

async function medianOf({ overlays, nodes, requests }: Omit<RequestBenchOptions, 'limitS'>) {
  const reports = []
  for (let i = 0; i < overlays; i++) reports.push(await inOneOverlay(nodes, requests))
  const over = reports.map(({ overTwoWaysP50Ms }) => overTwoWaysP50Ms)
  const median = percentile(over, 0.5)
  const report = reports.find(({ overTwoWaysP50Ms }) => overTwoWaysP50Ms === median)
  if (report === undefined) throw new Error('one overlay at least')
  return { ...report, overlays, overTwoWaysP50MsOfEach: over }
}

async function inOneOverlay(nodes: number, requests: number) {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const modules = { identity, crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { port: 0 } }, modules)
  await tracker.start()
  const streamId = toStreamId(`${tracker.nodeId}/asked`)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id: streamId, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
  const listen = { host: '127.0.0.1', port: 0 }
  const clients: RunnelClient[] = []
  try {
    for (let i = 0; i < nodes; i++)
      clients.push(
        await createClient({
          network: { kind: 'static', document },
          transports: { websocket: { listen }, webrtc: false },
        }),
      )
    return await measure(clients, streamId, requests)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
    await tracker.stop()
  }
}

async function measure(clients: readonly RunnelClient[], streamId: string, requests: number) {
  const [asker, responder] = [clients[0], clients.at(-1)]
  if (asker === undefined || responder === undefined || asker === responder)
    throw new Error('two nodes at least')
  let arrived = () => {}
  await responder.respond(streamId, ({ content }) => content)
  await responder.subscribe(streamId, { order: 'arrival' }, ({ content }) => {
    if (content === 'one way') arrived()
  })
  for (const client of clients.slice(0, -1)) {
    await client.subscribe(streamId, {}, () => {})
    await client.joinStreamPart(streamId, 100)
  }
  for (const client of clients)
    for (const partition of [0, 100])
      await client.network.waitForNeighbours(toStreamPartId(toStreamId(streamId), partition))
  const oneWay = () =>
    timed(async () => {
      const there = new Promise<void>((resolve) => (arrived = resolve))
      await asker.publish(streamId, 'one way')
      await there
    })
  const both = () => timed(() => asker.request(streamId, 'there and back', { timeoutMs: 10_000 }))
  for (let i = 0; i < warmUp; i++) {
    await oneWay()
    await both()
  }
  const [ways, replies]: [number[], number[]] = [[], []]
  for (let i = 0; i < requests; i++) {
    ways.push(await oneWay())
    await rest()
    replies.push(await both())
    await rest()
  }
  const p50 = { oneWayMs: percentile(ways, 0.5), requestMs: percentile(replies, 0.5) }
  return {
    bench: 'request',
    nodes: clients.length,
    requests,
    request: figures(replies),
    baseline: { what: 'a message one way, through the same overlay', ...figures(ways) },
    overTwoWaysP50Ms: round(p50.requestMs - 2 * p50.oneWayMs),
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}

const rest = () => new Promise((resolve) => setTimeout(resolve, restMs))

const figures = (ms: readonly number[]) => ({
  p50Ms: round(percentile(ms, 0.5)),
  p95Ms: round(percentile(ms, 0.95)),
})
