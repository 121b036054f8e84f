import { emulationError } from '../../errors.ts'
import { LinkEmulator, type EmulatedHost } from '../../underlay/link-emulator.ts'
import { createUnderlay, type Underlay } from '../../underlay/underlay.ts'
import type { Fleet, Host, Hosts, Place, PlaceFacts } from '../place.ts'
import { ProcessFleet, type Machine } from '../processes/process-fleet.ts'

export interface NamespacesPlaceOptions {
  /** `cities`, `aws`, or a file: see `createUnderlay`. */
  readonly latency: string
  /** Standard deviation of the delay on each host's link, each way. */
  readonly jitterMs?: number
  /** Of each host's link, each way, and what may wait for it. */
  readonly bandwidth?: { readonly bitsPerS: number; readonly queueBytes: number }
  /** Of loss and jitter: a whole number from 0. */
  readonly seed?: number
}

/** The emulator's hosts, less the tracker's. */
export const maxNamespaceNodes = 255
const trackerAddress = '10.1.0.1'

/**
 * Each process in a network namespace of its own, between which the link emulator carries packets. Nothing has a name in the
 * system: namespaces and devices are gone with the emulator and the processes, whatever ends them. Needs root.
 */
export class NamespacesPlace implements Place {
  readonly kind = 'namespaces'
  readonly source = 'emulation'
  readonly latency: string
  readonly #options: NamespacesPlaceOptions
  readonly #underlay: Underlay
  readonly #emulator = new LinkEmulator()
  readonly #emulated = new Map<string, EmulatedHost>()
  #processes: ProcessFleet | undefined

  /** Throws UNREADABLE_LATENCIES and INVALID_LATENCIES. */
  constructor(options: NamespacesPlaceOptions) {
    this.#options = options
    this.latency = options.latency
    this.#underlay = createUnderlay(options.latency)
  }

  get failed(): AbortSignal {
    const signals = [this.#emulator.failed, this.#processes?.failed]
    return AbortSignal.any(signals.filter((signal) => signal !== undefined))
  }

  async start(fleet: Fleet, signal: AbortSignal): Promise<Hosts> {
    if (fleet.nodes > maxNamespaceNodes)
      throw emulationError('PLACE_CANNOT', `at most ${maxNamespaceNodes} nodes`)
    const { sites, trackerSite } = this.#underlay
    const tracker = { name: 'tracker', site: trackerSite, address: trackerAddress }
    const nodes = Array.from({ length: fleet.nodes }, (_, index) => ({
      name: `node-${index}`,
      site: sites[index % sites.length] ?? '',
      address: `10.0.0.${index + 1}`,
    }))
    await this.#startLinks([tracker, ...nodes], fleet.dilation)
    this.#processes = new ProcessFleet({ tracker, nodes, fleet }, { within: this.#within.bind(this) })
    return this.#processes.start(AbortSignal.any([signal, this.#emulator.failed]))
  }

  async restart(host: Host, signal: AbortSignal): Promise<void> {
    await this.#processes?.restart(host, signal)
  }

  delayMs(from: Host, to: Host): number {
    return this.#underlay.delayMs(from.site, to.site)
  }

  async setLoss(rate: number): Promise<void> {
    await this.#emulator.setLoss('all', rate)
  }

  /** What the emulator has carried and dropped so far, and how late it was. */
  async facts(): Promise<PlaceFacts> {
    const { lateness, ...counts } = await this.#emulator.statistics()
    const { latency, jitterMs = 0, bandwidth, seed = 0 } = this.#options
    return {
      latency,
      jitterMs,
      bitsPerS: bandwidth?.bitsPerS ?? null,
      emulatorSeed: seed,
      ...Object.fromEntries(Object.entries(counts).map(([name, count]) => [`emulator.${name}`, count])),
      'emulator.latenessMeanUs': lateness?.meanUs ?? null,
      'emulator.latenessP99Us': lateness?.p99Us ?? null,
      'emulator.latenessMaxUs': lateness?.maxUs ?? null,
    }
  }

  async stop(): Promise<void> {
    await this.#processes?.stop()
    await this.#emulator.stop()
  }

  async #startLinks(machines: readonly Machine[], dilation = 1): Promise<void> {
    const emulator = this.#emulator
    await emulator.start()
    for (const { name, address } of machines) this.#emulated.set(name, await emulator.addHost(address))
    const { jitterMs, bandwidth, seed } = this.#options
    if (seed !== undefined) await emulator.setSeed(seed)
    if (jitterMs !== undefined) await emulator.setJitter('all', dilation * jitterMs)
    if (bandwidth !== undefined)
      await emulator.setBandwidth('all', bandwidth.bitsPerS / dilation, bandwidth.queueBytes)
    await this.#setDelays(machines, dilation)
  }

  async #setDelays(machines: readonly Machine[], factor: number): Promise<void> {
    await Promise.all(machines.flatMap((from) => machines.map((to) => this.#setDelay(from, to, factor))))
  }

  async #setDelay(from: Machine, to: Machine, factor: number): Promise<void> {
    const [sender, receiver] = [this.#emulated.get(from.name), this.#emulated.get(to.name)]
    if (!sender || !receiver || from === to) return
    await this.#emulator.setDelay(sender, receiver, factor * this.#underlay.delayMs(from.site, to.site))
  }

  #within({ name }: Machine, command: readonly string[]): readonly string[] {
    return ['nsenter', `--net=${this.#emulated.get(name)?.namespace}`, '--', ...command]
  }
}
