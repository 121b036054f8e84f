import { rmSync } from 'node:fs'
import { createConnection, createServer, type Server } from 'node:net'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { endingWithThis } from '../../places/processes/ending-with-this.ts'
import { passOn } from './pass-on.testkit.ts'
import type { EmulatedHost } from '../../underlay/link-emulator.ts'

const forwarder = fileURLToPath(new URL('forward.testkit.ts', import.meta.url))

/**
 * Makes a port of this machine's 127.0.0.1 the same port of an emulated host's: so a page there, which is a secure context at that
 * address only, is served from here, and reaches a tracker here. What passes it takes no emulated link.
 */
export class LoopbackBridge {
  readonly #host: EmulatedHost
  readonly #port: number
  readonly #socket: string
  #server: Server | undefined
  #forwarder: ChildProcess | undefined

  /** `directory` is for a socket. */
  constructor(host: EmulatedHost, port: number, directory: string) {
    this.#host = host
    this.#port = port
    this.#socket = `${directory}/${host.index}-${port}.sock`
  }

  async start(): Promise<void> {
    const port = this.#port
    this.#server = createServer((from) => {
      passOn(from, createConnection({ host: '127.0.0.1', port }))
    }).listen(this.#socket)
    await once(this.#server, 'listening')
    const [program, ...rest] = endingWithThis([
      'nsenter',
      `--net=${this.#host.namespace}`,
      '--',
      process.execPath,
      forwarder,
      String(port),
      this.#socket,
    ])
    this.#forwarder = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    if (this.#forwarder.stdout) await once(this.#forwarder.stdout, 'data')
  }

  /** Idempotent. */
  stop(): void {
    this.#forwarder?.kill()
    this.#server?.close()
    rmSync(this.#socket, { force: true })
  }
}
