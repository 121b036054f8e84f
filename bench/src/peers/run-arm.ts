import { fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ChildCalls } from '../child-calls.ts'
import { within } from '../settling.ts'
import type { Arm } from './catalogue.ts'
import type { DriverCalls, LoadFigures } from './driver.ts'

export interface RoundOptions {
  readonly nodes: number
  /** For how long each load goes. */
  readonly seconds: number
  /** Messages a second of the paced load. */
  readonly perS: number
  /** Nodes that join, one after the other. */
  readonly joins: number
}

export interface InstalledArm extends Arm {
  readonly directory: string
}

/** What one arm did in one round. */
export interface Round {
  readonly saturated: LoadFigures
  readonly paced: LoadFigures
  readonly joinsMs: readonly number[]
  /** What went wrong when it was stopped, after all was measured. */
  readonly stopFailure: string | undefined
}

const keptChars = 2_000
const endsWithinMs = 3_000

/** One round of an arm, in a process of its own that is ended afterwards. Rejects with what it was at when it fails or takes too long. */
export async function runArm(arm: InstalledArm, options: RoundOptions, limitMs: number): Promise<Round> {
  const { nodes, seconds, perS, joins } = options
  const child = startChild(arm)
  const calls = new ChildCalls<DriverCalls>(child)
  let doing = 'start'
  const work = async (): Promise<Round> => {
    await calls.call('start', { nodes, directory: arm.directory, variant: arm.variant })
    doing = 'warm-up'
    await calls.call('saturate', seconds)
    doing = 'saturated load'
    const saturated = await calls.call('saturate', seconds)
    doing = 'paced load'
    const paced = await calls.call('paced', perS, seconds)
    doing = 'joins'
    const joinsMs: number[] = []
    for (let n = 0; n < joins; n++)
      joinsMs.push(...[await calls.call('join')].filter((ms) => ms !== undefined))
    doing = 'stop'
    const stopFailure = await calls.call('stop').then(() => undefined, firstLine)
    return { saturated, paced, joinsMs, stopFailure }
  }
  const errors = lastLinesOf(child)
  try {
    return await within(limitMs, () => doing, work())
  } catch (error) {
    const said = errors()
    throw new Error(`${doing}: ${firstLine(error)}${said && ` (${said})`}`, { cause: error })
  } finally {
    await end(child)
  }
}

/** What an error says, without its details. */
export const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''

/** What a process wrote to its standard error last. */
function lastLinesOf({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-keptChars)))
  return () => text.trim().split('\n').slice(-2).join(' ')
}

/** A driver ends, with its servers, when it is let go; one that is stuck does not. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  const stuck = setTimeout(() => child.kill('SIGKILL'), endsWithinMs)
  if (child.connected) child.disconnect()
  await ended
  clearTimeout(stuck)
}

function startChild({ child, directory }: InstalledArm): ChildProcess {
  const stdio = ['ignore', 'ignore', 'pipe', 'ipc'] as const
  if (child === 'driver') return spawn(join(directory, child), [], { stdio: [...stdio] })
  const file = fileURLToPath(new URL(child, import.meta.url))
  return fork(file, { execArgv: ['--conditions=runnel-src'], stdio: [...stdio] })
}
