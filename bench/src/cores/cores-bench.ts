import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { generatePrivateKey, loadCrypto, type Crypto } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ChildCalls } from '../child-calls.ts'
import { benchError } from '../errors.ts'
import { settled } from '../settling.ts'
import { cpuUs, percentile, round } from '../statistics.ts'
import { bareVerification } from './bare-verification.ts'
import type { CoresCalls } from './cores-child.ts'
import { Crowd } from './crowd.ts'
import { Neighbours } from './neighbours.ts'

export interface CoresBenchOptions {
  readonly publishers: number
  /** With which the node is kept busy, one run. */
  readonly messages: number
  /** Messages a second beside the quiet stream. */
  readonly besidePerS: number
  /** The quiet stream is watched for so long. */
  readonly seconds: number
  readonly rounds: number
}

/** On which cores the node may run, and how many threads verify beside its own. */
const arms = {
  oneCore: { cpus: '0', workers: 0 },
  twoCoresNoWorkers: { cpus: '0,1', workers: 0 },
  twoCores: { cpus: '0,1', workers: 1 },
} as const
type Arm = keyof typeof arms

const neighbourCount = 4
/** On their way at most: enough to saturate, few enough that sockets hold little. */
const maxInFlight = 2_048
const quietPerS = 100
/** Of content: what is larger is of the quiet stream. */
const quietBytes = 1_000
const quietMs = 20_000
const maxWarmings = 20

interface Figures {
  readonly messagesPerS: number
  readonly cpuUs: number
  readonly mainUs: number
  /** Of the neighbours, which are on the same cores. */
  readonly driverUs: number
  readonly asideShare: number
  readonly delaysMs: readonly number[]
}

/** One node with 4 neighbours that bring single messages of many publishers, on one core and on two. */
export async function coresBench(options: CoresBenchOptions, tell: (text: string) => void = () => {}) {
  const crypto = await loadCrypto()
  const content = { contentBytes: 100 }
  const crowd = new Crowd({ name: 'crowd', publishers: options.publishers, ...content }, crypto)
  const quiet = new Crowd({ name: 'quiet', publishers: 1, contentBytes: quietBytes }, crypto)
  const runs: Record<Arm, Figures[]> = { oneCore: [], twoCoresNoWorkers: [], twoCores: [] }
  for (let i = 0; i < options.rounds; i++) {
    for (const arm of Object.keys(arms) as Arm[]) {
      tell(`round ${i + 1}, ${arm}`)
      crowd.beginAnew(`${arm}-${i}`)
      quiet.beginAnew(`${arm}-${i}`)
      runs[arm].push(await runArm(arms[arm], { ...options, crowd, quiet, crypto }))
    }
  }
  const figures = {
    oneCore: summary(runs.oneCore),
    twoCoresNoWorkers: summary(runs.twoCoresNoWorkers),
    twoCores: summary(runs.twoCores),
  }
  const to = (baseline: Arm) => round(figures.twoCores.messagesPerS / figures[baseline].messagesPerS)
  return {
    ...{ bench: 'cores', publishers: options.publishers, messages: options.messages, messageBytes: 100 },
    ...{ rounds: options.rounds, neighbours: neighbourCount, besidePerS: options.besidePerS },
    ...{ cryptoBackend: crypto.backend, ...figures, baseline: await bareVerification(crypto) },
    ratio: { toOneCore: to('oneCore'), toNoWorkers: to('twoCoresNoWorkers') },
  }
}

interface ArmModules extends CoresBenchOptions {
  readonly crowd: Crowd
  readonly quiet: Crowd
  readonly crypto: Crypto
}

async function runArm(arm: { readonly cpus: string; readonly workers: number }, modules: ArmModules) {
  const { crowd, quiet, crypto, messages, besidePerS, seconds } = modules
  const neighbours = new Neighbours(neighbourCount, crypto)
  await neighbours.start()
  const child = startChild(arm.cpus)
  try {
    await child.call('start', {
      privateKey: Buffer.from(generatePrivateKey(systemRandom)).toString('hex'),
      tracker: { nodeId: neighbours.trackerId, url: neighbours.trackerUrl },
      streamPartIds: [...crowd.streamPartIds, ...quiet.streamPartIds],
      workers: arm.workers,
    })
    // Every publisher once, so that chains are known and code is compiled.
    await saturate(neighbours, crowd, crowd.size)
    const before = await warmed(child, arm.workers, () => saturate(neighbours, crowd, crowd.size))
    const { perS, driverUs } = await saturate(neighbours, crowd, messages)
    const after = await child.call('figures')
    const delaysMs = await watchQuiet(neighbours, { crowd, quiet, besidePerS, seconds })
    return {
      messagesPerS: perS,
      driverUs,
      cpuUs: (after.cpuUs - before.cpuUs) / messages,
      mainUs: (after.mainUs - before.mainUs) / messages,
      asideShare: (after.verifiedAside - before.verifiedAside) / messages,
      delaysMs,
    }
  } finally {
    await child.stop()
    await neighbours.stop()
  }
}

/** The figures once workers have begun to verify: their threads load what they need meanwhile. */
async function warmed(child: ChildCalls<CoresCalls>, workers: number, work: () => Promise<unknown>) {
  for (let i = 0; i < maxWarmings; i++) {
    const figures = await child.call('figures')
    if (workers === 0 || figures.verifiedAside > 0) return figures
    await work()
  }
  throw benchError('CHILD_FAILED', 'the workers do not verify')
}

function startChild(cpus: string): ChildCalls<CoresCalls> {
  const file = fileURLToPath(new URL('cores-child.ts', import.meta.url))
  const command = [cpus, process.execPath, '--conditions=runnel-src', file]
  return new ChildCalls(
    spawn('taskset', ['-c', ...command], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  )
}

/** So many messages as quickly as the node takes them: messages a second. A node sends each to all neighbours but the one that brought it. */
async function saturate(neighbours: Neighbours, crowd: Crowd, count: number) {
  const signed = crowd.sign(count)
  const copies = neighbourCount - 1
  let received = 0
  let sent = 0
  const fill = () => {
    while (sent < count && sent - received / copies < maxInFlight) {
      const { publisher, packet } = signed[sent++] as (typeof signed)[number]
      neighbours.send(publisher % neighbourCount, packet)
    }
  }
  neighbours.onData = () => {
    received++
    if (received % 64 === 0 || sent === received / copies) fill()
  }
  const startMs = performance.now()
  const startUs = cpuUs()
  fill()
  const isDone = () => received >= count * copies
  const { done, endMs } = await settled({ isDone, progress: () => received, quietMs })
  if (!done) throw benchError('INCOMPLETE', `${received} of ${count * copies} copies came`)
  return { perS: (1_000 * count) / (endMs - startMs), driverUs: (cpuUs() - startUs) / count }
}

/** Delays of a quiet stream from one neighbour through the node to the next, in milliseconds, beside so much else. */
async function watchQuiet(
  neighbours: Neighbours,
  options: Pick<ArmModules, 'crowd' | 'quiet' | 'besidePerS' | 'seconds'>,
): Promise<number[]> {
  const { crowd, quiet, besidePerS, seconds } = options
  const loud = crowd.sign(Math.ceil(besidePerS * seconds))
  const soft = quiet.sign(quietPerS * seconds)
  const sentMs: number[] = []
  const delaysMs: number[] = []
  neighbours.onData = (neighbour, { length }) => {
    if (neighbour === 1 && length > quietBytes)
      delaysMs.push(performance.now() - (sentMs[delaysMs.length] ?? 0))
  }
  const startMs = performance.now()
  let at = 0
  while (at < loud.length || sentMs.length < soft.length) {
    await pause(1)
    const elapsedS = (performance.now() - startMs) / 1_000
    for (; at < Math.min(loud.length, elapsedS * besidePerS); at++) {
      const { publisher, packet } = loud[at] as (typeof loud)[number]
      neighbours.send(publisher % neighbourCount, packet)
    }
    if (sentMs.length >= Math.min(soft.length, elapsedS * quietPerS)) continue
    const { packet } = soft[sentMs.length] as (typeof soft)[number]
    sentMs.push(performance.now())
    neighbours.send(0, packet)
  }
  const isDone = () => delaysMs.length >= soft.length
  const { done } = await settled({ isDone, progress: () => delaysMs.length, quietMs })
  if (!done) throw benchError('INCOMPLETE', `${delaysMs.length} of ${soft.length} quiet messages came`)
  return delaysMs
}

function summary(runs: readonly Figures[]) {
  const median = (of: (run: Figures) => number) => round(percentile(runs.map(of), 0.5))
  return {
    messagesPerS: median((run) => run.messagesPerS),
    cpuUsPerMessage: median((run) => run.cpuUs),
    mainThreadUsPerMessage: median((run) => run.mainUs),
    driverUsPerMessage: median((run) => run.driverUs),
    verifiedByWorkers: median((run) => run.asideShare),
    quiet: {
      p50Ms: median((run) => percentile(run.delaysMs, 0.5)),
      p99Ms: median((run) => percentile(run.delaysMs, 0.99)),
    },
  }
}
