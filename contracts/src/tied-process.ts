import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'

/** A process that ends with this one, however this one ends. */
export interface TiedProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves, when the process has ended and its output was read, to how it ended. Never rejects. */
  readonly ended: Promise<string>
  /** Interrupts the process and waits until it has ended. Idempotent. */
  stop(): Promise<void>
}

/** How long a process may take over an interrupt before it is killed. */
const stopGraceMs = 20_000

/**
 * Becomes the command, and leaves a watcher behind that waits for the end of our standard input: it ends when the parent
 * closes it or dies, and then the watcher interrupts the command. `$$` is the pid of the shell, hence of the command.
 */
const watchedExec = 'exec 3<&0 </dev/null; (read -r _ <&3; kill -INT $$) >/dev/null 2>&1 & exec "$@" 3<&-'

/**
 * Starts a process in a group of its own, so that a Ctrl-C at the terminal reaches the parent alone and the parent
 * decides in which order things end. On Windows there is no such shell: there the process is ended without notice.
 */
export function spawnTied(command: readonly [string, ...string[]]): TiedProcess {
  return process.platform === 'win32' ? spawnDirect(command) : spawnWatched(command)
}

function spawnWatched(command: readonly string[]): TiedProcess {
  const child = spawn('/bin/sh', ['-c', watchedExec, 'sh', ...command], {
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // The pipe breaks when the process ends first, which `ended` tells.
  child.stdin.on('error', () => {})
  return tied(child, child.stdout, child.stderr, () => child.stdin.end())
}

function spawnDirect([file, ...args]: readonly [string, ...string[]]): TiedProcess {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = () => child.kill()
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  return tied(child, child.stdout, child.stderr, kill)
}

function tied(child: ChildProcess, stdout: Readable, stderr: Readable, interrupt: () => void): TiedProcess {
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('close', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`))
  })
  let stopped: Promise<void> | undefined
  const stop = () => (stopped ??= interruptAndWait(child, ended, interrupt))
  return { pid: child.pid, stdout, stderr, ended, stop }
}

async function interruptAndWait(
  child: ChildProcess,
  ended: Promise<string>,
  interrupt: () => void,
): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), stopGraceMs)
  interrupt()
  await ended
  clearTimeout(timer)
}
