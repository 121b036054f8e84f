import { readCities, type Cities } from '../../underlay/cities.ts'
import { cityUnderlay, type Underlay } from '../../underlay/underlay.ts'
import type { Fleet, Host, Hosts, Place, PlaceFacts } from '../place.ts'
import { ProcessFleet, type Machine } from '../processes/process-fleet.ts'
import { CoreSession, type BuiltSession } from './core-session.ts'

export interface CorePlaceOptions {
  /** The Python that CORE is installed for. */
  readonly python: string
}

/** Where CORE's installer puts it. */
export const defaultPython = '/opt/core/venv/bin/python'

/** The network emulator CORE: routers in the cities find the ways with OSPF, the kernel's netem delays and loses. Needs root. */
export class CorePlace implements Place {
  readonly kind = 'core'
  readonly source = 'emulation'
  readonly latency = 'cities'
  readonly #options: CorePlaceOptions
  readonly #cities: Cities
  readonly #underlay: Underlay
  #session: CoreSession | undefined
  #built: BuiltSession | undefined
  #processes: ProcessFleet | undefined

  constructor(options: CorePlaceOptions) {
    this.#options = options
    this.#cities = readCities()
    this.#underlay = cityUnderlay(this.#cities)
  }

  get failed(): AbortSignal {
    const signals = [this.#session?.failed, this.#processes?.failed]
    return AbortSignal.any(signals.filter((signal) => signal !== undefined))
  }

  async start(fleet: Fleet, signal: AbortSignal): Promise<Hosts> {
    const { cities, links } = this.#cities
    const { sites, trackerSite } = this.#underlay
    const siteOf = (index: number) => sites[index % sites.length] ?? ''
    const placed = [
      { name: 'tracker', city: trackerSite },
      ...Array.from({ length: fleet.nodes }, (_, index) => ({ name: `node-${index}`, city: siteOf(index) })),
    ]
    const session = new CoreSession(this.#options.python)
    this.#session = session
    const built = await session.build({ cities, links, hosts: placed })
    this.#built = built
    signal.throwIfAborted()
    const [tracker, ...nodes] = placed.map(({ name, city }) => ({
      ...{ name, site: city },
      address: built.hosts[name]?.address ?? '',
    }))
    if (!tracker) throw new RangeError('no tracker')
    this.#processes = new ProcessFleet({ tracker, nodes, fleet }, { within: this.#within.bind(this) })
    return this.#processes.start(AbortSignal.any([signal, session.failed]))
  }

  async restart(host: Host, signal: AbortSignal): Promise<void> {
    await this.#processes?.restart(host, signal)
  }

  delayMs(from: Host, to: Host): number {
    return this.#underlay.delayMs(from.site, to.site)
  }

  async setLoss(rate: number): Promise<void> {
    await this.#session?.setLoss(rate)
  }

  async facts(): Promise<PlaceFacts> {
    const { core, kernel } = (await this.#session?.facts()) ?? { core: null, kernel: null }
    return { latency: 'cities', core, kernel, convergedS: this.#built?.convergedS ?? null }
  }

  async stop(): Promise<void> {
    await this.#processes?.stop()
    await this.#session?.stop()
  }

  #within({ name }: Machine, command: readonly string[]): readonly string[] {
    return ['nsenter', `--net=/proc/${this.#built?.hosts[name]?.pid}/ns/net`, '--', ...command]
  }
}
