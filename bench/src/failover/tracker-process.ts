import { fork, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { NodeId } from '@runnel/protocol'
import { benchError } from '../errors.ts'

/** The command line from its sources. */
const program = fileURLToPath(new URL('../../../packages/node/src/main.ts', import.meta.url))

export interface TrackerOptions {
  readonly nodeId: NodeId
  readonly keyFile: string
  readonly port: number
  readonly networkFile: string
  readonly logFile: string
}

/** `runnel tracker` in a process of its own, which can be killed, frozen and started again where it was. */
export class TrackerProcess {
  readonly nodeId: NodeId
  readonly #options: TrackerOptions
  #child: ChildProcess | undefined

  constructor(options: TrackerOptions) {
    this.nodeId = options.nodeId
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#child !== undefined
  }

  get httpUrl(): string {
    return `http://127.0.0.1:${this.#options.port}`
  }

  /** Resolves when it takes nodes. */
  async start(): Promise<void> {
    const { keyFile, port, networkFile, logFile } = this.#options
    const args = [
      ...['--key', keyFile, '--port', `${port}`, '--network', networkFile, '--log-level', 'info'],
      // A topology-aware overlay exchanges edges, whatever happens to its trackers.
      ...['--overlay', 'random'],
    ]
    const log = openSync(logFile, 'a')
    const child = fork(program, ['tracker', ...args], {
      execArgv: ['--conditions=runnel-src'],
      stdio: ['ignore', 'ignore', log, 'ipc'],
    })
    closeSync(log)
    this.#child = child
    await new Promise<void>((resolve, reject) => {
      child.once('message', () => resolve())
      child.once('exit', (code, signal) =>
        reject(benchError('CHILD_FAILED', `the tracker ended: ${signal ?? code}; ${logFile}`)),
      )
    })
  }

  /** Without a goodbye; the system closes its sockets. */
  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  /** As an operator stops it. */
  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  /** It answers nothing, and its sockets stay open. */
  freeze(): void {
    this.#child?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Nodes in each stream part it has; none while it cannot say. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    try {
      const response = await fetch(`${this.httpUrl}/v1/stream-parts?limit=1000`, {
        signal: AbortSignal.timeout(1_000),
      })
      const { streamParts } = (await response.json()) as {
        readonly streamParts: readonly { readonly streamPartId: string; readonly nodeCount: number }[]
      }
      return new Map(streamParts.map(({ streamPartId, nodeCount }) => [streamPartId, nodeCount]))
    } catch {
      return new Map()
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
}
