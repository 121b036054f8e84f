import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { emulationError } from '../errors.ts'
import { endingWithThis } from '../places/processes/ending-with-this.ts'

/** A display that nobody sees. */
export interface Display {
  /** As in DISPLAY. */
  readonly name: string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Starts Xvfb, of Debian's package of that name, on a free display. Throws DISPLAY_MISSING. */
export async function startDisplay(): Promise<Display> {
  // It says on descriptor 3 which display it took.
  const args = ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp']
  const [program, ...rest] = endingWithThis(['Xvfb', ...args])
  const child = spawn(program, rest, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  const stop = async () => {
    child.kill()
    await ended
  }
  const lines = createInterface({ input: child.stdio[3] as Readable })
  const [line] = (await Promise.race([once(lines, 'line'), ended])) ?? []
  if (typeof line === 'string') return { name: `:${line}`, stop }
  throw emulationError('DISPLAY_MISSING', 'Xvfb')
}
