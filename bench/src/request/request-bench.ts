import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createClient, type ClientConfig, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, toStreamPartId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { beginPhase, showProgress } from '../phase.ts'
import { benchError } from '../errors.ts'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import { percentile, round } from '../statistics.ts'
import type { MemberCalls } from './member-child.ts'
import { oneWay, sharedMs } from './one-way.ts'

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
 * the way of a message through the same overlay, in turns. Of several overlays the one whose requests take the median over two ways. Each
 * node has a process of its own, and this one asks.
 */
export function requestBench({ limitS, ...size }: RequestBenchOptions) {
  return within(limitS * 1000, 'asking', medianOf(size))
}

async function medianOf({ overlays, nodes, requests }: Omit<RequestBenchOptions, 'limitS'>) {
  const reports = []
  for (let i = 0; i < overlays; i++) {
    beginPhase(`overlay ${i + 1} of ${overlays}`)
    reports.push(await inOneOverlay(nodes, requests))
  }
  const over = reports.map(({ overTwoWaysP50Ms }) => overTwoWaysP50Ms)
  const median = percentile(over, 0.5)
  const report = reports.find(({ overTwoWaysP50Ms }) => overTwoWaysP50Ms === median)
  if (report === undefined) throw benchError('INVALID_ARGUMENT', 'one overlay at least')
  return { bench: 'request', ...report, overlays, overTwoWaysP50MsOfEach: over }
}

async function inOneOverlay(nodes: number, requests: number) {
  if (nodes < 2) throw benchError('INVALID_ARGUMENT', 'two nodes at least')
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
  const members = Array.from({ length: nodes - 1 }, startChild)
  const asker = await createClient(configOf(document))
  try {
    await Promise.all(members.map((member) => member.call('start', document, streamId)))
    return { nodes, ...(await measure(asker, members, { streamId, requests })) }
  } finally {
    await Promise.all([asker.close(), ...members.map(stopChild)])
    await tracker.stop()
  }
}

const configOf = (document: StaticNetwork): ClientConfig => ({
  network: { kind: 'static', document },
  transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
})

type Member = ChildCalls<MemberCalls>

function startChild(): Member {
  const path = fileURLToPath(new URL('member-child.ts', import.meta.url))
  return new ChildCalls<MemberCalls>(fork(path, { execArgv: ['--conditions=runnel-src'] }))
}

async function stopChild(member: Member): Promise<void> {
  await member.call('stop').catch(() => {})
  await member.stop()
}

async function measure(
  asker: RunnelClient,
  members: readonly Member[],
  { streamId, requests }: { readonly streamId: string; readonly requests: number },
) {
  const [responder] = members
  if (responder === undefined) throw new Error('two nodes at least')
  await responder.call('respond', streamId)
  await asker.subscribe(streamId, {}, () => {})
  await asker.joinStreamPart(streamId, 100)
  for (const partition of [0, 100])
    await asker.network.waitForNeighbours(toStreamPartId(toStreamId(streamId), partition))
  await Promise.all(members.map((member) => member.call('neighbours', streamId)))
  const [sentMs, replies]: [number[], number[]] = [[], []]
  showProgress(() => `${replies.length} of ${warmUp + requests} replies`)
  for (let i = 0; i < warmUp + requests; i++) {
    sentMs.push(sharedMs())
    await asker.publish(streamId, oneWay)
    await rest()
    const startMs = sharedMs()
    await asker.request(streamId, 'there and back', { timeoutMs: 10_000 })
    replies.push(sharedMs() - startMs)
    await rest()
  }
  const arrivedMs = await responder.call('arrivals')
  if (arrivedMs.length < sentMs.length)
    throw benchError('INCOMPLETE', `${arrivedMs.length} of ${sentMs.length} came`)
  const ways = arrivedMs.map((ms, i) => ms - (sentMs[i] ?? ms)).slice(warmUp)
  const measured = replies.slice(warmUp)
  const p50 = { oneWayMs: percentile(ways, 0.5), requestMs: percentile(measured, 0.5) }
  return {
    requests,
    request: figures(measured),
    baseline: { what: 'a message one way, through the same overlay', ...figures(ways) },
    overTwoWaysP50Ms: round(p50.requestMs - 2 * p50.oneWayMs),
  }
}

const rest = () => new Promise((resolve) => setTimeout(resolve, restMs))

const figures = (ms: readonly number[]) => ({
  p50Ms: round(percentile(ms, 0.5)),
  p95Ms: round(percentile(ms, 0.95)),
})
