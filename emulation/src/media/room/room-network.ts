import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { emulationError } from '../../errors.ts'
import { dilatedEnvironment, type Dilation } from '../../places/processes/dilation.ts'
import { RunnelProcess } from '../../places/processes/runnel-process.ts'
import { inParallel } from '../../session/in-parallel.ts'
import { LinkEmulator, type EmulatedHost, type EmulatorStatistics } from '../../underlay/link-emulator.ts'
import type { Underlay } from '../../underlay/underlay.ts'
import { startRelay, startTracker, networkFileOf, type RunProcess, type ServerPlace } from '../servers.ts'
import type { MemberNews, MemberRecord, MemberTask } from './member-record.ts'
import { longestGatheringMs, relayOf, relaysOf, type RoomOptions } from './room-plan.ts'

const memberProgram = fileURLToPath(new URL('./member.ts', import.meta.url))
const startingAtOnce = 4
const degree = 4

export interface RoomNetworkModules {
  readonly underlay: Underlay
  /** For everything that is written. */
  readonly directory: string
}

interface Place {
  readonly name: string
  readonly site: string
  readonly host: EmulatedHost
}

/** Members, relays and a tracker, each a process in a network namespace of its own. Nothing is left of it when it has stopped. */
export class RoomNetwork {
  readonly #options: RoomOptions
  readonly #modules: RoomNetworkModules
  readonly #dilation: Dilation
  readonly #emulator = new LinkEmulator()
  readonly #processes: RunnelProcess[] = []
  readonly #death = new AbortController()
  readonly #known = new Map<string, number>()
  readonly #gathered = Promise.withResolvers<void>()
  #places: Place[] = []

  constructor(options: RoomOptions, modules: RoomNetworkModules) {
    this.#options = options
    this.#modules = modules
    this.#dilation = { factor: options.dilation, sinceMs: Date.now() }
  }

  /** Aborts with the reason when a part of it has ended unexpectedly. */
  get failed(): AbortSignal {
    return AbortSignal.any([this.#death.signal, this.#emulator.failed])
  }

  /** Resolves when every member knows all others. Rejects with PROCESS_FAILED, NOT_FORMED and what the link emulator rejects with. */
  async start(
    files: { readonly voiceFile: string; readonly clipFile: string; readonly picturesPerS: number },
    signal: AbortSignal,
  ): Promise<void> {
    const { members, sites, floods } = this.#options
    await this.#startLinks()
    const overlay = this.#options.arm === 'topology-aware' ? 'topology-aware' : 'random'
    const run = this.#runServer(signal)
    const streamId = await startTracker(this.#serverPlace('tracker'), { degree, overlay }, run)
    const relays = await this.#startRelays(signal)
    const numbers = Array.from({ length: members }, (_, number) => number)
    await inParallel(
      startingAtOnce,
      numbers,
      (number, sooner) => {
        const site = sites[number % sites.length] ?? ''
        const relay = relays[this.#relayOf(number, site)]
        const task: MemberTask = {
          ...{ name: nameOf(number), networkFile: networkFileOf(this.#modules.directory), streamId },
          ...{ recordFile: this.#file(`${nameOf(number)}.json`), via: relay, others: members - 1 },
          thinFloods: floods === 'thin',
          voiceFile: number < this.#options.voices ? files.voiceFile : undefined,
          clipFile: number < this.#options.pictures ? files.clipFile : undefined,
          picturesPerS: files.picturesPerS,
        }
        return this.#startProcess(task.name, [JSON.stringify(task)], sooner, { program: memberProgram })
      },
      signal,
    )
    const timer = setTimeout(() => {
      const late = [...this.#known].filter(([, others]) => others < members - 1).map(([name]) => name)
      this.#gathered.reject(emulationError('NOT_FORMED', late.join(', ')))
    }, longestGatheringMs(this.#dilation.factor))
    await Promise.race([this.#gathered.promise, this.#failure(signal)]).finally(() => clearTimeout(timer))
  }

  setLoss(rate: number): Promise<void> {
    return this.#emulator.setLoss('all', rate)
  }

  statistics(): Promise<EmulatorStatistics> {
    return this.#emulator.statistics()
  }

  /** Ends everything. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()))
    await this.#emulator.stop()
  }

  /** Ends the members, and gives what they wrote down. */
  async records(): Promise<MemberRecord[]> {
    const { members } = this.#options
    await Promise.all(this.#processes.slice(-members).map((process) => process.stop()))
    return Array.from(
      { length: members },
      (_, number) => JSON.parse(readFileSync(this.#file(`${nameOf(number)}.json`), 'utf8')) as MemberRecord,
    )
  }

  async #startLinks(): Promise<void> {
    const { arm, members, sites, relaySites, seed } = this.#options
    const wanted = [
      { name: 'tracker', site: this.#modules.underlay.trackerSite, address: '10.1.0.1' },
      ...Array.from({ length: relaysOf(arm) }, (_, relay) => ({
        ...{ name: `relay-${relay}`, site: relaySites[relay % relaySites.length] ?? '' },
        address: `10.2.0.${relay + 1}`,
      })),
      ...Array.from({ length: members }, (_, number) => ({
        ...{ name: nameOf(number), site: sites[number % sites.length] ?? '' },
        address: `10.0.0.${number + 1}`,
      })),
    ]
    await this.#emulator.start()
    await this.#emulator.setSeed(seed)
    for (const { name, site, address } of wanted)
      this.#places.push({ name, site, host: await this.#emulator.addHost(address) })
    await Promise.all(this.#places.flatMap((from) => this.#places.map((to) => this.#setDelay(from, to))))
  }

  async #setDelay(from: Place, to: Place): Promise<void> {
    if (from === to) return
    const delayMs = this.#modules.underlay.delayMs(from.site, to.site)
    await this.#emulator.setDelay(from.host, to.host, this.#dilation.factor * delayMs)
  }

  /** Their URLs. */
  #startRelays(signal: AbortSignal): Promise<string[]> {
    const names = Array.from({ length: relaysOf(this.#options.arm) }, (_, relay) => `relay-${relay}`)
    return inParallel(
      startingAtOnce,
      names,
      (name, sooner) => startRelay(this.#serverPlace(name), this.#runServer(sooner)),
      signal,
    )
  }

  #serverPlace(name: string): ServerPlace {
    return { name, address: this.#placeOf(name).host.address, directory: this.#modules.directory }
  }

  #runServer(signal: AbortSignal): RunProcess {
    return (name, args, env = {}) => this.#startProcess(name, args, signal, { env, isControlled: true })
  }

  async #startProcess(
    name: string,
    args: readonly string[],
    signal: AbortSignal,
    how: {
      readonly program?: string
      readonly env?: Record<string, string>
      readonly isControlled?: boolean
    },
  ): Promise<void> {
    const { program, env = {}, isControlled = false } = how
    const control = isControlled ? [`--control-socket=${this.#file(`${name}.sock`)}`, '--log-level=warn'] : []
    const { namespace } = this.#placeOf(name).host
    const process = new RunnelProcess({
      ...{ name, args: [...args, ...control], logFile: this.#file(`${name}.log`) },
      env: { ...dilatedEnvironment(this.#dilation), ...env },
      ...(program === undefined ? {} : { program }),
      within: (command) => ['nsenter', `--net=${namespace}`, '--', ...command],
      onMessage: (message) => this.#onNews(name, message as Partial<MemberNews>),
      onDeath: (how) => this.#death.abort(emulationError('PROCESS_FAILED', `${name} ended: ${how}`)),
    })
    this.#processes.push(process)
    await process.start(AbortSignal.any([signal, this.failed]))
  }

  #onNews(name: string, { others }: Partial<MemberNews>): void {
    if (others === undefined) return
    this.#known.set(name, others)
    const { members } = this.#options
    const knowing = [...this.#known.values()].filter((known) => known >= members - 1)
    if (knowing.length === members) this.#gathered.resolve()
  }

  #relayOf(number: number, site: string): number {
    const { arm, relaySites } = this.#options
    const sites = Array.from(
      { length: relaysOf(arm) },
      (_, relay) => relaySites[relay % relaySites.length] ?? '',
    )
    return relayOf({ number, site }, sites, (from, to) => this.#modules.underlay.delayMs(from, to))
  }

  #placeOf(name: string): Place {
    const place = this.#places.find((one) => one.name === name)
    if (place === undefined) throw new Error(`${name} has no host`)
    return place
  }

  #failure(signal: AbortSignal): Promise<never> {
    const either = AbortSignal.any([signal, this.failed])
    return new Promise((_, reject) => {
      if (either.aborted) reject(either.reason)
      either.addEventListener('abort', () => reject(either.reason), { once: true })
    })
  }

  #file(name: string): string {
    return join(this.#modules.directory, name)
  }
}

const nameOf = (number: number): string => `member-${number}`
