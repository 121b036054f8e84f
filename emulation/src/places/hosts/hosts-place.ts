import { setTimeout as delay } from 'node:timers/promises'
import { ControlClient } from '../../control/control-client.ts'
import { emulationError } from '../../errors.ts'
import type { Fleet, Host, Hosts, Place, PlaceFacts } from '../place.ts'
import { createUnderlay, type Underlay } from '../../underlay/underlay.ts'
import type { HostsFile } from './hosts-file.ts'

/** How often a process that is to come back is looked for, and how long. */
const lookEveryMs = 500
const backWithinMs = 180_000

/** Machines, listed in a file, that something else has set up and supervises, such as systemd. */
export class HostsPlace implements Place {
  readonly kind = 'hosts'
  readonly source: 'emulation' | 'aws'
  readonly latency: string
  readonly failed = undefined
  readonly #file: HostsFile
  readonly #underlay: Underlay | undefined

  /** Delays between sites, as `delays` has measured them, go into RDP. Throws what reading them throws. */
  constructor(file: HostsFile, latency?: string) {
    this.#file = file
    this.source = file.source
    this.latency = latency ?? 'real'
    this.#underlay = latency === undefined ? undefined : createUnderlay(latency)
  }

  start({ nodes }: Fleet): Promise<Hosts> {
    const { tracker, nodes: all, token } = this.#file
    if (nodes > all.length)
      return Promise.reject(emulationError('PLACE_CANNOT', `${nodes} nodes on ${all.length} hosts`))
    const hosts = { tracker, nodes: all.slice(0, nodes) }
    return Promise.resolve(token === undefined ? hosts : { ...hosts, token })
  }

  /** Tells it to stop; whoever supervises it starts it again. */
  async restart(host: Host, signal: AbortSignal): Promise<void> {
    const control = new ControlClient(host.control, this.#file.token)
    const { pid } = await control.info()
    await control.stop()
    const untilMs = performance.now() + backWithinMs
    while (performance.now() < untilMs) {
      const info = await control.info().catch(() => undefined)
      if (info !== undefined && info.pid !== pid) return
      await delay(lookEveryMs, undefined, { signal })
    }
    throw emulationError('CONTROL_FAILED', `${host.name} did not come back`)
  }

  delayMs(from: Host, to: Host): number | undefined {
    const delayMs = this.#underlay?.delayMs(from.site, to.site)
    return delayMs === Infinity ? undefined : delayMs
  }

  setLoss(rate: number): Promise<void> {
    if (rate === 0) return Promise.resolve()
    return Promise.reject(emulationError('PLACE_CANNOT', 'the loss of real networks cannot be set'))
  }

  facts(): Promise<PlaceFacts> {
    return Promise.resolve({ hosts: this.#file.nodes.length })
  }

  stop(): Promise<void> {
    return Promise.resolve()
  }
}
