import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../../control/control-client.ts'
import { experimentPartitions, experimentStream } from '../../session/experiment-stream.ts'
import { inParallel } from '../../session/in-parallel.ts'
import type { Fleet, Host, Hosts, LinkKind } from '../place.ts'
import { openRunDirectory } from './run-directory.ts'
import { dilatedEnvironment, type Dilation } from './dilation.ts'
import { networkDocument } from './network-document.ts'
import { RunnelProcess } from './runnel-process.ts'

/** A machine, or a namespace in place of one. */
export interface Machine {
  readonly name: string
  readonly site: string
  readonly address: string
}

export interface ProcessFleetOptions {
  readonly tracker: Machine
  readonly nodes: readonly Machine[]
  readonly fleet: Fleet
}

export interface ProcessFleetModules {
  /** What runs a command on a machine. */
  within(machine: Machine, command: readonly string[]): readonly string[]
}

/** Processes that are being started at a time. */
const startingAtOnce = 4
const trackerPort = 30_300

/**
 * One `runnel tracker` and a `runnel node` for each machine, with a network file of their own, controlled over Unix sockets
 * in a folder that is removed at the end. A process that ends unexpectedly is a failure of the experiment.
 */
export class ProcessFleet {
  readonly #options: ProcessFleetOptions
  readonly #modules: ProcessFleetModules
  readonly #processes = new Map<string, RunnelProcess>()
  readonly #death = new AbortController()
  readonly #dilation: Dilation
  #directory = ''
  #trackerKey = ''

  constructor(options: ProcessFleetOptions, modules: ProcessFleetModules) {
    this.#options = options
    this.#modules = modules
    this.#dilation = { factor: options.fleet.dilation ?? 1, sinceMs: Date.now() }
  }

  /** Aborts with the reason when a process has ended unexpectedly. */
  get failed(): AbortSignal {
    return this.#death.signal
  }

  async start(signal: AbortSignal): Promise<Hosts> {
    const { tracker, nodes, fleet } = this.#options
    const either = AbortSignal.any([signal, this.failed])
    this.#directory = openRunDirectory()
    const key = generatePrivateKey(systemRandom)
    this.#trackerKey = Buffer.from(key).toString('hex')
    await this.#startTracker(either)
    const trackerHost = this.#hostOf(tracker)
    const { websocketUrl: url } = await new ControlClient(trackerHost.control).info()
    const { nodeId } = createIdentity(key, await loadCrypto())
    const stream = { id: experimentStream(nodeId), partitions: experimentPartitions }
    writeFileSync(this.#networkFile, JSON.stringify(networkDocument({ nodeId, url }, stream)), {
      mode: 0o600,
    })
    await inParallel(
      startingAtOnce,
      [...nodes.entries()],
      ([index, machine], sooner) => this.#startNode(machine, listens(fleet.links, index), sooner),
      either,
    )
    const hosts = nodes.map((machine) => this.#hostOf(machine))
    return { tracker: trackerHost, nodes: hosts, dilation: this.#dilation }
  }

  /** Ends a process without warning and starts it anew. */
  async restart({ name }: Host, signal: AbortSignal): Promise<void> {
    const { tracker, nodes, fleet } = this.#options
    await this.#processes.get(name)?.kill()
    const either = AbortSignal.any([signal, this.failed])
    const index = nodes.findIndex((machine) => machine.name === name)
    const machine = nodes[index]
    if (machine === undefined) {
      if (name === tracker.name) await this.#startTracker(either)
    } else await this.#startNode(machine, listens(fleet.links, index), either)
  }

  /** Ends all processes and removes what they have written. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#processes.values(), (one) => one.stop()))
    if (this.#directory !== '') rmSync(this.#directory, { recursive: true, force: true })
  }

  async #startTracker(signal: AbortSignal): Promise<void> {
    const { tracker, fleet } = this.#options
    const port = tracker.address.startsWith('127.') ? 0 : trackerPort
    const flags = { host: tracker.address, port, degree: fleet.degree, overlay: fleet.overlay }
    const env = { RUNNEL_PRIVATE_KEY: this.#trackerKey }
    await this.#startProcess(tracker, ['tracker', ...flagsOf(flags), '--no-explorer'], env, signal)
  }

  async #startNode(machine: Machine, isListening: boolean, signal: AbortSignal): Promise<void> {
    const flags = {
      network: this.#networkFile,
      'http-enabled': false,
      'websocket-listen': isListening,
      'websocket-host': machine.address,
      'websocket-port': 0,
      'webrtc-enabled': this.#options.fleet.links !== 'websocket',
      'thin-floods': this.#options.fleet.floods !== 'full',
      'control-enabled': true,
    }
    await this.#startProcess(machine, ['node', ...flagsOf(flags)], {}, signal)
  }

  async #startProcess(
    machine: Machine,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<void> {
    const { name } = machine
    const process = new RunnelProcess({
      name,
      args: [...args, ...flagsOf({ 'control-socket': this.#socketOf(machine), 'log-level': 'warn' })],
      env: { ...dilatedEnvironment(this.#dilation), ...env },
      logFile: join(this.#directory, `${name}.log`),
      within: (command) => this.#modules.within(machine, command),
      onDeath: (how) => this.#death.abort(new Error(`${name} ended: ${how}`)),
    })
    this.#processes.set(name, process)
    await process.start(signal)
  }

  #hostOf(machine: Machine): Host {
    return { ...machine, control: `unix:${this.#socketOf(machine)}` }
  }

  #socketOf({ name }: Machine): string {
    return join(this.#directory, `${name}.sock`)
  }

  get #networkFile(): string {
    return join(this.#directory, 'network.json')
  }
}

/** Whether the node of this number can be reached by WebSocket. */
function listens(links: LinkKind, index: number): boolean {
  return links === 'websocket' || (links === 'mixed' && index % 2 === 0)
}

function flagsOf(flags: Readonly<Record<string, string | number | boolean>>): string[] {
  return Object.entries(flags).flatMap(([name, value]) => [`--${name}=${value}`])
}
