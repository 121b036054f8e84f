import { readFileSync } from 'node:fs'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import type { StaticNetwork } from '@runnel/client'
import { emulationError } from '../../errors.ts'
import { Browsers } from '../../pages/browsers.ts'
import { bundlePage } from '../../pages/bundle-page.ts'
import { endingWithThis } from '../../places/processes/ending-with-this.ts'
import { RunnelProcess } from '../../places/processes/runnel-process.ts'
import { LinkEmulator, type EmulatedHost } from '../../underlay/link-emulator.ts'
import type { Underlay } from '../../underlay/underlay.ts'
import { networkFileOf, startRelay, startTracker, type RunProcess } from '../servers.ts'
import type { GlassOptions } from './glass-plan.ts'
import { openHostPage } from './host-browser.ts'
import { startJanus } from './janus.ts'
import type { GlassWay } from './page/main.ts'

const degree = 4

interface Place {
  readonly name: string
  readonly site: string
  readonly host: EmulatedHost
}

/** Pages in browsers of their own, and the servers of one arm, each in a network namespace. Nothing is left of it when it has stopped. */
export class GlassNetwork {
  readonly #options: GlassOptions
  readonly #underlay: Underlay
  readonly #directory: string
  readonly #emulator = new LinkEmulator()
  readonly #places = new Map<string, Place>()
  readonly #processes: RunnelProcess[] = []
  readonly #children: ChildProcess[] = []
  readonly #browsers = new Browsers()
  readonly #death = new AbortController()

  constructor(options: GlassOptions, underlay: Underlay, directory: string) {
    this.#options = options
    this.#underlay = underlay
    this.#directory = directory
  }

  /** Aborts with the reason when a part of it has ended unexpectedly. */
  get failed(): AbortSignal {
    return AbortSignal.any([this.#death.signal, this.#emulator.failed])
  }

  /** Links and servers; gives how pages take part. Rejects with PROCESS_FAILED and what the link emulator rejects with. */
  async start(signal: AbortSignal): Promise<GlassWay> {
    await this.#startLinks()
    const { arm } = this.#options
    if (arm === 'sfu') {
      const { url, room, failed } = await startJanus({
        ...{ address: this.#addressOf('relay'), directory: this.#directory },
        spawn: (command, args, stdio) => {
          const [program, ...rest] = endingWithThis(this.#within('relay', [command, ...args]))
          const child = spawn(program, rest, { stdio })
          this.#children.push(child)
          return child
        },
      })
      failed.catch((error: unknown) => this.#death.abort(error))
      return { kind: 'sfu', url, room }
    }
    const run: RunProcess = (name, args, env = {}) => this.#run(name, { args, env }, signal)
    const place = (name: string) => ({ name, address: this.#addressOf(name), directory: this.#directory })
    const streamId = await startTracker(place('tracker'), { degree, overlay: 'random' }, run)
    const relay = arm === 'relay' ? await startRelay(place('relay'), run) : undefined
    const document = JSON.parse(readFileSync(networkFileOf(this.#directory), 'utf8')) as StaticNetwork
    const network = { kind: 'static', document } as const
    const config = { network, ...(relay === undefined ? {} : { via: { hosts: [relay], atOnce: 1 } }) }
    return { kind: 'network', config, streamId }
  }

  /** A page in each place, the one that publishes first. */
  async openPages(): Promise<Page[]> {
    const files = await bundlePage(new URL('page/main.ts', import.meta.url), 'From glass to glass')
    const pages: Page[] = []
    for (const { name, host } of this.#places.values()) {
      if (!name.startsWith('page-')) continue
      pages.push(await openHostPage(this.#browsers, host, { directory: this.#directory, files }))
    }
    return pages
  }

  setLoss(rate: number): Promise<void> {
    return this.#emulator.setLoss('all', rate)
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.#browsers.close()
    await Promise.all(this.#processes.splice(0).map((process) => process.stop()))
    const running = this.#children
      .splice(0)
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
    await Promise.all(
      running.map((child) => {
        child.kill('SIGKILL')
        return once(child, 'close')
      }),
    )
    await this.#emulator.stop()
  }

  async #startLinks(): Promise<void> {
    const { watching, sites, relaySite, seed } = this.#options
    const wanted = [
      { name: 'tracker', site: this.#underlay.trackerSite, address: '10.1.0.1' },
      { name: 'relay', site: relaySite, address: '10.2.0.1' },
      ...Array.from({ length: 1 + watching }, (_, number) => ({
        ...{ name: `page-${number}`, site: sites[number % sites.length] ?? '' },
        address: `10.0.0.${number + 1}`,
      })),
    ]
    await this.#emulator.start()
    await this.#emulator.setSeed(seed)
    for (const { name, site, address } of wanted)
      this.#places.set(name, { name, site, host: await this.#emulator.addHost(address) })
    for (const from of this.#places.values())
      for (const to of this.#places.values())
        if (from !== to)
          await this.#emulator.setDelay(from.host, to.host, this.#underlay.delayMs(from.site, to.site))
  }

  async #run(
    name: string,
    { args, env }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
    signal: AbortSignal,
  ): Promise<void> {
    const control = [`--control-socket=${join(this.#directory, `${name}.sock`)}`, '--log-level=warn']
    const process = new RunnelProcess({
      ...{ name, args: [...args, ...control], env, logFile: join(this.#directory, `${name}.log`) },
      within: (command) => this.#within(name, command),
      onDeath: (how) => this.#death.abort(emulationError('PROCESS_FAILED', `${name} ended: ${how}`)),
    })
    this.#processes.push(process)
    await process.start(AbortSignal.any([signal, this.failed]))
  }

  #addressOf(name: string): string {
    return this.#places.get(name)?.host.address ?? ''
  }

  #within(name: string, command: readonly string[]): readonly string[] {
    return ['nsenter', `--net=${this.#places.get(name)?.host.namespace ?? ''}`, '--', ...command]
  }
}
