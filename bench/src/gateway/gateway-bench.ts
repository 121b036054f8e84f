import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { startGatewayNetwork, type GatewayBenchNetwork } from './gateway-network.ts'
import { httpPath, sdkPath, webSocketPath, type Path } from './gateway-paths.ts'
import type { IdleCalls } from './idle-child.ts'

export interface GatewayBenchOptions {
  readonly nodes: number
  /** Sent one after the other on each path, for their delays. */
  readonly paced: number
  /** Sent at once on each path. */
  readonly messages: number
  /** Event streams that get nothing. */
  readonly idle: number
  /** How long their cost is measured. */
  readonly idleS: number
  readonly limitS: number
}

/** Between two paced messages, so that nothing of the one before is still on its way. */
const restMs = 5
/** Before idle readers are measured: what was before is collected. */
const settleMs = 2_000
/** Messages before those that are measured, which compile. */
const warmUp = 200

/**
 * What a gateway adds: delay and rate of messages from a program to another by HTTP and by WebSocket, through an overlay in this process,
 * beside the SDK alone at the same two nodes; and what idle readers cost.
 */
export async function gatewayBench(options: GatewayBenchOptions) {
  const { nodes, paced, messages, idle, idleS, limitS } = options
  const network = await startGatewayNetwork(nodes)
  const measureAll = async () => {
    const sdk = await measure(network, sdkPath, paced, messages)
    const http = await measure(network, httpPath, paced, messages)
    const webSocket = await measure(network, webSocketPath, paced, messages)
    const beside = (figures: Figures) => ({
      ...figures,
      overSdkP50Ms: round(figures.p50Ms - sdk.p50Ms),
      rateRatio: round(figures.messagesPerS / sdk.messagesPerS),
    })
    return {
      ...{ bench: 'gateway', nodes, paced, messages },
      baseline: { what: 'the SDK alone, at the same nodes', ...sdk },
      http: beside(http),
      webSocket: beside(webSocket),
      idle: await idleCost(network, idle, idleS),
    }
  }
  try {
    return await within(limitS * 1000, 'the gateways', measureAll())
  } finally {
    await network.stop()
  }
}

interface Figures {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly messagesPerS: number
}

async function measure(
  network: GatewayBenchNetwork,
  open: (network: GatewayBenchNetwork, onNumber: (n: number) => void) => Promise<Path>,
  paced: number,
  messages: number,
): Promise<Figures> {
  let awaited = -1
  let arrived = () => {}
  let count = 0
  const path = await open(network, (n) => {
    count++
    if (n === awaited) arrived()
  })
  let next = 0
  const reach = (n: number) => {
    awaited = n
    return new Promise<void>((resolve) => (arrived = resolve))
  }
  const delays: number[] = []
  for (let i = 0; i < warmUp + paced; i++) {
    const startMs = performance.now()
    const there = reach(next)
    await Promise.all([path.send(next++), there])
    if (i >= warmUp) delays.push(performance.now() - startMs)
    await pause(restMs)
  }
  const numbers = Array.from({ length: messages }, () => next++)
  count = 0
  const startMs = performance.now()
  const last = reach(next - 1)
  await Promise.all([path.sendMany(numbers), last])
  const seconds = (performance.now() - startMs) / 1000
  if (count !== messages) throw new Error(`${count} of ${messages} messages came`)
  await path.stop()
  return {
    p50Ms: round(percentile(delays, 0.5)),
    p99Ms: round(percentile(delays, 0.99)),
    messagesPerS: round(messages / seconds),
  }
}

/** Their other ends are in another process. */
async function idleCost({ urls, streamId, key }: GatewayBenchNetwork, connections: number, seconds: number) {
  const child = fork(fileURLToPath(new URL('idle-child.ts', import.meta.url)))
  const calls = new ChildCalls<IdleCalls>(child)
  await pause(settleMs)
  const restUs = await cpuOf(seconds)
  const before = process.memoryUsage.rss()
  const path = `/v1/streams/${encodeURIComponent(streamId)}/events?key=${key}`
  await calls.call('open', Number(new URL(urls[1]).port), path, connections)
  await pause(settleMs)
  const bytes = process.memoryUsage.rss() - before
  const idleUs = await cpuOf(seconds)
  child.disconnect()
  return {
    connections,
    bytesEach: round(bytes / connections),
    cpuUsPerSEach: round((idleUs - restUs) / seconds / connections),
  }
}

async function cpuOf(seconds: number): Promise<number> {
  const before = cpuUs()
  await pause(seconds * 1000)
  return cpuUs() - before
}
