import { writeFileSync } from 'node:fs'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { ControlClient } from '../control/control-client.ts'
import { emulationError } from '../errors.ts'
import { startTurnServer, type TurnPlace, type TurnServer } from '../nat/turn-server.ts'
import type { PlaceFacts } from '../places/place.ts'
import { networkDocument } from '../places/processes/network-document.ts'
import { endingWithThis } from '../places/processes/ending-with-this.ts'
import { RunnelProcess } from '../places/processes/runnel-process.ts'
import { usageOf } from '../../../packages/node/src/up/process-stat.ts'
import { LinkEmulator, type EmulatedHost } from '../underlay/link-emulator.ts'
import {
  firstArms,
  sessionPartitions,
  starts,
  type FirstArm,
  type FirstOptions,
  type Start,
} from './first-plan.ts'

export type HostName = 'tracker' | 'relay' | 'joiner' | FirstArm
const addresses: Readonly<Record<HostName, string>> = {
  ...{ tracker: '10.1.0.1', relay: '10.1.0.2', joiner: '10.0.0.1' },
  ...{ websocket: '10.0.0.2', direct: '10.0.0.3', relayed: '10.0.0.4' },
}
const trackerPort = 30_300

/** What a process is besides its name, its host and its arguments. */
export interface ProcessOptions {
  readonly program?: string
  readonly env?: Readonly<Record<string, string>>
  onMessage?(message: unknown): void
}

/** A tracker, coturn, a joining host and a publishing one for each arm, each in a namespace, with the same delay between any two. */
export class FirstHosts {
  readonly #options: FirstOptions
  readonly #directory: string
  readonly #emulator = new LinkEmulator()
  readonly #hosts = new Map<HostName, EmulatedHost>()
  readonly #processes = new Set<RunnelProcess>()
  readonly #children = new Set<ChildProcess>()
  readonly #death = new AbortController()
  readonly #key = generatePrivateKey(systemRandom)
  #trackerId: NodeId | undefined
  #turn: TurnServer | undefined

  constructor(options: FirstOptions, directory: string) {
    this.#options = options
    this.#directory = directory
  }

  /** Aborts when a process or the emulator ended without having been told to. */
  get failed(): AbortSignal {
    return AbortSignal.any([this.#death.signal, this.#emulator.failed])
  }

  get networkFile(): string {
    return join(this.#directory, 'network.json')
  }

  async start(signal: AbortSignal): Promise<void> {
    await this.#startLinks()
    const place: TurnPlace = {
      address: addresses.relay,
      directory: this.#directory,
      spawn: (command, args, stdio) => {
        const [program, ...rest] = endingWithThis(this.#within('relay', [command, ...args]))
        const child = spawn(program, rest, { stdio })
        this.#children.add(child)
        child.once('exit', () => this.#children.delete(child))
        return child
      },
    }
    this.#turn = await startTurnServer(place, signal)
    await this.#startTracker(this.#turn, signal)
  }

  addressOf(name: HostName): string {
    return addresses[name]
  }

  /** Each start of each arm has a stream of its own. */
  streamId(arm: FirstArm, start: Start): StreamId {
    return toStreamId(`${this.#trackerId ?? ''}/${arm}-${start}`)
  }

  /** Starts a process on a host. It has to say something to have started. */
  async run(
    name: string,
    on: HostName,
    args: readonly string[],
    { signal, ...options }: ProcessOptions & { readonly signal: AbortSignal },
  ): Promise<RunnelProcess> {
    const process: RunnelProcess = new RunnelProcess({
      ...{ name, args, logFile: join(this.#directory, `${name}.log`), ...options },
      within: (command) => this.#within(on, command),
      onDeath: (how) => this.#death.abort(emulationError('PROCESS_FAILED', `${name} ended: ${how}`)),
    })
    this.#processes.add(process)
    await process.start(signal)
    return process
  }

  /** Of the emulator and of coturn, until now. */
  async facts(): Promise<PlaceFacts> {
    const { lateness, queueFull, poolFull } = await this.#emulator.statistics()
    return {
      place: 'namespaces',
      coturn: this.#turn?.version ?? null,
      ...this.#relayCosts(),
      'emulator.dropped': queueFull + poolFull,
      'emulator.latenessP99Us': lateness?.p99Us ?? null,
    }
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#processes, (process) => process.stop()))
    this.#processes.clear()
    await Promise.all(
      Array.from(this.#children, (child) => {
        child.kill('SIGKILL')
        return once(child, 'exit')
      }),
    )
    await this.#emulator.stop()
  }

  async #startLinks(): Promise<void> {
    await this.#emulator.start()
    for (const name of ['tracker', 'relay', 'joiner', ...firstArms] as const)
      this.#hosts.set(name, await this.#emulator.addHost(addresses[name]))
    const { oneWayMs, relayOneWayMs } = this.#options
    for (const [from, fromHost] of this.#hosts)
      for (const [to, toHost] of this.#hosts) {
        if (from === to) continue
        const isRelay = from === 'relay' || to === 'relay'
        await this.#emulator.setDelay(fromHost, toHost, isRelay ? relayOneWayMs : oneWayMs)
      }
  }

  async #startTracker({ turnUrls, secretFile }: TurnServer, signal: AbortSignal): Promise<void> {
    const socket = join(this.#directory, 'tracker.sock')
    const place = [`--host=${addresses.tracker}`, `--port=${trackerPort}`, `--control-socket=${socket}`]
    const turn = [`--turn-url=${turnUrls.udp}`, `--turn-secret-file=${secretFile}`]
    const env = { RUNNEL_PRIVATE_KEY: Buffer.from(this.#key).toString('hex') }
    await this.run('tracker', 'tracker', ['tracker', ...place, ...turn, '--no-explorer'], { env, signal })
    const { websocketUrl: url } = await new ControlClient(`unix:${socket}`).info()
    const { nodeId } = createIdentity(this.#key, await loadCrypto())
    this.#trackerId = nodeId
    const partitions = this.#options.goal === 'frame' ? sessionPartitions : 1
    const documents = firstArms.flatMap((arm) =>
      starts.map((start) => networkDocument({ nodeId, url }, { id: this.streamId(arm, start), partitions })),
    )
    const network = { ...documents[0], streams: documents.flatMap(({ streams }) => streams) }
    writeFileSync(this.networkFile, JSON.stringify(network), { mode: 0o600 })
  }

  #relayCosts(): PlaceFacts {
    const pid = this.#turn?.pid
    if (pid === undefined) return {}
    const { cpuMs, rssBytes } = usageOf(pid)
    return { 'relay.cpuMs': cpuMs, 'relay.rssMiB': Math.round(rssBytes / 2 ** 20) }
  }

  #within(on: HostName, command: readonly string[]): readonly string[] {
    return ['nsenter', `--net=${this.#hosts.get(on)?.namespace ?? ''}`, '--', ...command]
  }
}
