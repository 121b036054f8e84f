import { fork } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { beginPhase } from '../phase.ts'
import { benchError } from '../errors.ts'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { startGatewayNetwork, type GatewayBenchNetwork } from './gateway-network.ts'
import { httpPath, sdkPath, webSocketPath, type Path } from './gateway-paths.ts'
import type { IdleCalls } from './idle-child.ts'

export interface GatewayBenchOptions {
  readonly nodes: number
  /** Of each path once, by turns, after those that warm up. */
  readonly rounds: number
  /** Sent one after the other on each path in each round, for their delays. */
  readonly paced: number
  /** Sent at once on each path in each round. */
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
/** Rounds before those that are measured: each path is compiled by then, also for many messages. */
const warmUpRounds = 2
/** Messages before those whose delay is measured: connections are open by then. */
const warmUp = 20

const paths = { sdk: sdkPath, http: httpPath, webSocket: webSocketPath }
type PathName = keyof typeof paths
const names = Object.keys(paths) as PathName[]

/**
 * What a gateway adds: delay and rate of messages from a program to another by HTTP and by WebSocket, through an overlay in this process,
 * beside the SDK alone at the same two nodes; and what idle readers cost. Paths take turns, and a ratio is the median of those within
 * each round: whatever else the machine does, it does to all of them.
 */
export async function gatewayBench(options: GatewayBenchOptions) {
  const { nodes, rounds, paced, messages, idle, idleS, limitS } = options
  const network = await startGatewayNetwork(nodes)
  const measureAll = async () => {
    // First: later, memory that was used before hides what they take.
    beginPhase('idle readers')
    const idleReaders = await idleCost(network, idle, idleS)
    const measured = await inTurns(network, options)
    const { sdk } = measured
    const beside = (name: PathName) => {
      const figures = figuresOf(measured[name])
      const ratios = measured[name].map(({ messagesPerS }, i) => messagesPerS / (sdk[i]?.messagesPerS ?? NaN))
      return {
        ...figures,
        overSdkP50Ms: round(p50Of(measured[name]) - p50Of(sdk)),
        rateRatio: round(percentile(ratios, 0.5)),
        // Of the whole overlay: what it costs whether the machine is busy or not.
        cpuRatio: round(figures.cpuUsEach / figuresOf(sdk).cpuUsEach),
        rateRatioOfEachRound: ratios.map(round),
      }
    }
    return {
      ...{ bench: 'gateway', nodes, rounds, paced, messages },
      baseline: { what: 'the SDK alone, at the same nodes', ...figuresOf(sdk) },
      http: beside('http'),
      webSocket: beside('webSocket'),
      idle: idleReaders,
    }
  }
  try {
    return await within(limitS * 1000, 'the gateways', measureAll())
  } finally {
    await network.stop()
  }
}

/** Of one path in one round. */
interface Measured {
  readonly delaysMs: readonly number[]
  readonly messagesPerS: number
  readonly cpuUsEach: number
}

async function inTurns(
  network: GatewayBenchNetwork,
  { rounds, paced, messages }: GatewayBenchOptions,
): Promise<Readonly<Record<PathName, readonly Measured[]>>> {
  const measured: Record<PathName, Measured[]> = { sdk: [], http: [], webSocket: [] }
  for (let i = 0; i < warmUpRounds + rounds; i++) {
    // Nobody is always first.
    const turns = names.map((_, at) => names[(i + at) % names.length] ?? 'sdk')
    for (const name of turns) {
      beginPhase(`${name}, round ${i + 1} of ${warmUpRounds + rounds}`)
      const one = await measure(network, paths[name], paced, messages)
      if (i >= warmUpRounds) measured[name].push(one)
    }
  }
  return measured
}

function p50Of(measured: readonly Measured[]): number {
  return percentile(
    measured.flatMap(({ delaysMs }) => delaysMs),
    0.5,
  )
}

function figuresOf(measured: readonly Measured[]) {
  const delaysMs = measured.flatMap((one) => one.delaysMs)
  const medianOf = (of: (one: Measured) => number) => round(percentile(measured.map(of), 0.5))
  return {
    p50Ms: round(percentile(delaysMs, 0.5)),
    p99Ms: round(percentile(delaysMs, 0.99)),
    messagesPerS: medianOf(({ messagesPerS }) => messagesPerS),
    cpuUsEach: medianOf(({ cpuUsEach }) => cpuUsEach),
  }
}

async function measure(
  network: GatewayBenchNetwork,
  open: (network: GatewayBenchNetwork, onNumber: (n: number) => void) => Promise<Path>,
  paced: number,
  messages: number,
): Promise<Measured> {
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
  const delaysMs: number[] = []
  for (let i = 0; i < warmUp + paced; i++) {
    const startMs = performance.now()
    const there = reach(next)
    await Promise.all([path.send(next++), there])
    if (i >= warmUp) delaysMs.push(performance.now() - startMs)
    await pause(restMs)
  }
  const numbers = Array.from({ length: messages }, () => next++)
  count = 0
  const [startMs, startUs] = [performance.now(), cpuUs()]
  const last = reach(next - 1)
  await Promise.all([path.sendMany(numbers), last])
  const [seconds, usedUs] = [(performance.now() - startMs) / 1000, cpuUs() - startUs]
  if (count !== messages) throw benchError('INCOMPLETE', `${count} of ${messages} messages came`)
  await path.stop()
  return { delaysMs, messagesPerS: messages / seconds, cpuUsEach: usedUs / messages }
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
