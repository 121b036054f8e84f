import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { untilAborted } from '@runnel/protocol'
import { programFile } from '../../cli/program-file.ts'
import { nodeError } from '../../errors.ts'
import { workerGraceMs } from '../core/budget.ts'
import { errorText } from '../load/measurements.ts'

/** Worker processes of this machine. They end when this one does: the channel between them breaks. */
export interface OwnWorkers {
  /** host:port of each. */
  readonly places: readonly string[]
  readonly token: string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Starts so many. Throws BENCH_WORKER_FAILED, and the signal's reason. */
export async function startOwnWorkers(count: number, signal: AbortSignal): Promise<OwnWorkers> {
  const token = randomBytes(24).toString('base64url')
  const processes = Array.from({ length: count }, () =>
    // In a group of its own, so that a Ctrl-C reaches this process alone, which then stops all in order.
    fork(programFile, ['bench', 'worker', '--port', '0', '--json'], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      env: { ...process.env, RUNNEL_BENCH_TOKEN: token },
    }),
  )
  const stop = async () => {
    await Promise.all(processes.map((child) => stopProcess(child, workerGraceMs)))
  }
  try {
    const places = await untilAborted(Promise.all(processes.map((child) => placeOf(child))), signal)
    return { places, token, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Resolves when it has ended, which it is made to after `graceMs`. Idempotent. */
export async function stopProcess(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  child.kill('SIGTERM')
  await ended
  clearTimeout(timer)
}

function placeOf(child: ChildProcess): Promise<string> {
  const failed = once(child, 'error').then(([cause]: unknown[]) => {
    throw nodeError('BENCH_WORKER_FAILED', `it could not be started: ${errorText(cause)}`, { cause })
  })
  return Promise.race([saidPlaceOf(child), failed])
}

async function saidPlaceOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw nodeError('INTERNAL', 'a worker without standard output')
  for await (const line of createInterface({ input: child.stdout }))
    return (JSON.parse(line) as { place: string }).place
  throw nodeError('BENCH_WORKER_FAILED', 'it ended before it listened')
}
