import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createClient, type StaticNetwork } from '@runnel/client'
import { loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { beginPhase } from '../phase.ts'
import { benchError } from '../errors.ts'
import { percentile, round } from '../statistics.ts'
import { newIdentity } from '../swarm.ts'

/** The command as a user starts it. */
const program = fileURLToPath(new URL('../../../packages/node/bin/runnel.js', import.meta.url))

/** A network that runs, and a stream in it that everybody may publish and subscribe to. */
interface Place {
  readonly networkFile: string
  readonly streamId: string
}

export interface ProgramBenchOptions {
  /** Of each command. The first of all is not counted: it fills the cache of compiled code. */
  readonly runs: number
  /** Default: a tracker and a member in this process, without a chain. */
  readonly place?: Place | undefined
}

/**
 * Wall time of the command line, beside Node with nothing to do, in turns: `runnel --version`, and `runnel publish` with one message, until a subscriber in
 * this process has it and until the command has ended.
 */
export async function programBench({ runs, place }: ProgramBenchOptions) {
  if (place !== undefined) return measure(runs, place)
  const directory = mkdtempSync(join(tmpdir(), 'runnel-program-'))
  const tracker = await startTracker()
  try {
    return await measure(runs, ownPlace(directory, tracker))
  } finally {
    await tracker.stop()
    rmSync(directory, { recursive: true })
  }
}

async function measure(runs: number, { networkFile, streamId }: Place) {
  const subscriber = await createClient({
    network: { kind: 'static', file: networkFile },
    transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } } },
  })
  let arrived: (content: unknown) => void = () => {}
  const times = {
    node: [] as number[],
    version: [] as number[],
    delivered: [] as number[],
    ended: [] as number[],
  }
  try {
    await subscriber.subscribe(streamId, {}, ({ content }) => arrived(content))
    for (let run = 0; run <= runs; run++) {
      beginPhase(`run ${run} of ${runs}`)
      const sent = `${process.pid} ${run}`
      const delivery = new Promise<number>((resolve) => {
        arrived = (content) => content === sent && resolve(performance.now())
      })
      const nodeMs = await timed(['-e', '0'])
      const versionMs = await timed([program, '--version'])
      const startMs = performance.now()
      const args = ['publish', streamId, sent, '--text', '--network', networkFile, '--log-level', 'error']
      const endedMs = await timed([program, ...args])
      const deliveredMs = (await delivery) - startMs
      if (run === 0) continue
      times.node.push(nodeMs)
      times.version.push(versionMs)
      times.delivered.push(deliveredMs)
      times.ended.push(endedMs)
    }
  } finally {
    await subscriber.close()
  }
  return {
    ...{ bench: 'program', runs },
    versionMs: figures(times.version),
    publish: { deliveredMs: figures(times.delivered), endedMs: figures(times.ended) },
    baseline: { what: 'node -e 0', endedMs: figures(times.node) },
  }
}

const figures = (times: readonly number[]) => ({
  p50: round(percentile(times, 0.5)),
  max: round(Math.max(...times)),
})

/** Milliseconds from its start until a process has ended. */
async function timed(args: readonly string[]): Promise<number> {
  const startMs = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  // Where this process is ended meanwhile.
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  let said = ''
  // There is none where the process could not be started.
  const stderr: Readable | null | undefined = child.stderr
  stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const ended = once(child, 'close').catch((cause: unknown) => {
    throw benchError('CHILD_FAILED', String(cause), { cause })
  })
  const [code] = (await ended.finally(() => process.off('exit', kill))) as [number | null]
  if (code !== 0) throw benchError('CHILD_FAILED', `${args.join(' ')}: exit code ${code}: ${said.trim()}`)
  return performance.now() - startMs
}

async function startTracker(): Promise<Tracker> {
  const crypto = await loadCrypto()
  const modules = { identity: newIdentity(crypto), crypto, clock: systemClock, random: systemRandom }
  const tracker = createTracker({ listen: { host: '127.0.0.1', port: 0 } }, modules)
  await tracker.start()
  return tracker
}

function ownPlace(directory: string, { nodeId, url }: Tracker): Place {
  const streamId = `${nodeId}/program`
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId, url }],
    streams: [{ id: streamId, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
  const networkFile = join(directory, 'network.json')
  writeFileSync(networkFile, JSON.stringify(document))
  return { networkFile, streamId }
}
