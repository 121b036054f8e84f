import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { emulationError } from '../errors.ts'
import type { SessionHost } from './session-host.ts'

const runnel = fileURLToPath(new URL('../../../packages/node/bin/runnel.js', import.meta.url))
/** More sessions than any machine here holds. */
const maxDrivers = 500

/** `runnel bench worker`s of a host, one for each of its processors. */
export interface WorkerProcesses {
  /** host:port of each. */
  readonly places: readonly string[]
  readonly token: string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Throws PROCESS_FAILED. */
export async function startWorkers(host: SessionHost, count: number): Promise<WorkerProcesses> {
  const token = randomBytes(24).toString('base64url')
  const children = Array.from({ length: count }, () => startWorker(host, token))
  const stop = async () => {
    await Promise.all(children.map(stopChild))
  }
  try {
    return { places: await Promise.all(children.map(placeOf)), token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function startWorker({ address, within }: SessionHost, token: string): ChildProcess {
  const options = ['--host', address, '--port', '0', '--drivers', String(maxDrivers), '--json']
  const [command = '', ...args] = within([process.execPath, runnel, 'bench', 'worker', ...options])
  // The channel between the two breaks when this process ends, and a worker ends with it.
  return spawn(command, args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, RUNNEL_BENCH_TOKEN: token },
  })
}

async function placeOf({ stdout }: ChildProcess): Promise<string> {
  if (stdout !== null)
    for await (const line of createInterface({ input: stdout }))
      return (JSON.parse(line) as { place: string }).place
  throw emulationError('PROCESS_FAILED', 'a bench worker ended before it listened')
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
