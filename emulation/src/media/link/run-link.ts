import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import type { RecordRow } from '@runnel/sim/records'
import { ControlClient } from '../../control/control-client.ts'
import { emulationError } from '../../errors.ts'
import { networkDocument } from '../../places/processes/network-document.ts'
import { openRunDirectory } from '../../places/processes/run-directory.ts'
import { RunnelProcess } from '../../places/processes/runnel-process.ts'
import { LinkEmulator, type EmulatedHost } from '../../underlay/link-emulator.ts'
import { linkFigures } from './link-figures.ts'
import { queueBytes, type LinkOptions } from './link-plan.ts'
import type { PeerNews, PeerRecord, PeerTask } from './peer-record.ts'
import { picturesPerS, type Renditions } from './renditions.ts'

const peerProgram = fileURLToPath(new URL('./peer.ts', import.meta.url))
const addresses = { sender: '10.0.0.1', receiver: '10.0.0.2', tracker: '10.1.0.1' } as const
type HostName = keyof typeof addresses
const trackerPort = 30_300
const firstPort = 31_000
/** From the tracker to both. */
const trackerMs = 1
const endMs = 3_000

/** A line between two hosts, whose capacity changes while pictures go over it; everything else is as near as can be. */
export async function runLink(
  options: LinkOptions,
  renditions: Renditions,
  signal: AbortSignal,
): Promise<RecordRow> {
  const run = new LinkRun(options, renditions)
  try {
    return await run.run(signal)
  } finally {
    await run.stop()
  }
}

class LinkRun {
  readonly #options: LinkOptions
  readonly #renditions: Renditions
  readonly #emulator = new LinkEmulator()
  readonly #hosts = new Map<HostName, EmulatedHost>()
  readonly #processes: RunnelProcess[] = []
  readonly #death = new AbortController()
  readonly #directory = openRunDirectory()
  #started = Promise.withResolvers<number>()
  #streamId = ''

  constructor(options: LinkOptions, renditions: Renditions) {
    this.#options = options
    this.#renditions = renditions
  }

  async run(signal: AbortSignal): Promise<RecordRow> {
    const either = AbortSignal.any([signal, this.#death.signal])
    await this.#startLine()
    if (this.#options.arm === 'ours') await this.#startTracker(either)
    // The first flow is measured; the second is beside it.
    const flows = this.#options.beside === 'media' ? [1, 0] : [0]
    for (const flow of flows) {
      this.#started = Promise.withResolvers()
      await this.#startPeer('receiver', flow, either)
      await this.#startPeer('sender', flow, either)
      await Promise.race([this.#started.promise, rejection(either)])
    }
    await this.#changeLine(either)
    await delay(endMs, undefined, { signal: either })
    const { queueFull } = await this.#emulator.statistics()
    await Promise.all(this.#processes.map((process) => process.stop()))
    const [sender, receiver] = [this.#record('sender', 0), this.#record('receiver', 0)]
    const other = flows.length > 1 ? this.#record('receiver', 1) : undefined
    const figures = await linkFigures({ ...this.#options, sender, receiver, other }, this.#renditions)
    return { ...figures, droppedByLine: queueFull, machineLoad: Math.round((loadavg()[0] ?? 0) * 10) / 10 }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((process) => process.stop()))
    await this.#emulator.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #startLine(): Promise<void> {
    await this.#emulator.start()
    for (const name of ['sender', 'receiver', 'tracker'] as const)
      this.#hosts.set(name, await this.#emulator.addHost(addresses[name]))
    for (const [from, fromHost] of this.#hosts)
      for (const [to, toHost] of this.#hosts) {
        if (from === to) continue
        const isNear = from === 'tracker' || to === 'tracker'
        await this.#emulator.setDelay(fromHost, toHost, isNear ? trackerMs : this.#options.oneWayMs)
      }
    await this.#setLine(0)
  }

  async #setLine(kbitPerS: number): Promise<void> {
    const host = this.#hosts.get('sender')
    const most = kbitPerS === 0 ? (this.#options.line[0]?.kbitPerS ?? 0) : kbitPerS
    if (host !== undefined) await this.#emulator.setBandwidth(host, most * 1_000, queueBytes)
  }

  /** As planned, counted from the first picture. */
  async #changeLine(signal: AbortSignal): Promise<void> {
    const startMs = performance.now()
    const until = async (second: number): Promise<void> =>
      delay(Math.max(0, startMs + second * 1_000 - performance.now()), undefined, { signal })
    for (const { fromS, kbitPerS } of this.#options.line) {
      await until(fromS)
      await this.#setLine(kbitPerS)
    }
    await until(this.#options.seconds)
  }

  async #startTracker(signal: AbortSignal): Promise<void> {
    const key = generatePrivateKey(systemRandom)
    const { nodeId } = createIdentity(key, await loadCrypto())
    const socket = this.#file('tracker.sock')
    const flags = [`--host=${addresses.tracker}`, `--port=${trackerPort}`, '--no-explorer']
    await this.#startProcess(
      'tracker',
      'tracker',
      ['tracker', ...flags, `--control-socket=${socket}`],
      signal,
      {
        env: { RUNNEL_PRIVATE_KEY: Buffer.from(key).toString('hex') },
      },
    )
    const { websocketUrl: url } = await new ControlClient(`unix:${socket}`).info()
    const id = toStreamId(`${nodeId}/experiment`)
    this.#streamId = id
    const document = networkDocument({ nodeId, url }, { id, partitions: 4 })
    // Each flow has a stream of its own.
    const other = { ...document.streams[0], id: toStreamId(`${nodeId}/other`) }
    const network = { ...document, streams: [...document.streams, other] }
    writeFileSync(this.#file('network.json'), JSON.stringify(network), { mode: 0o600 })
  }

  async #startPeer(role: 'sender' | 'receiver', flow: number, signal: AbortSignal): Promise<void> {
    const { arm, beside } = this.#options
    const { clips, pictures } = this.#renditions
    const task: PeerTask = {
      ...{ role, arm, beside: flow === 0 ? beside : 'alone', clips, pictures, picturesPerS },
      ...{
        address: addresses.receiver,
        port: firstPort + 10 * flow,
        networkFile: this.#file('network.json'),
      },
      streamId: flow === 0 ? this.#streamId : this.#streamId.replace('/experiment', '/other'),
      recordFile: this.#recordFile(role, flow),
    }
    await this.#startProcess(`${role}-${flow}`, role, [JSON.stringify(task)], signal, {
      program: peerProgram,
    })
  }

  async #startProcess(
    name: string,
    on: HostName,
    args: readonly string[],
    signal: AbortSignal,
    how: { readonly program?: string; readonly env?: Record<string, string> },
  ): Promise<void> {
    const namespace = this.#hosts.get(on)?.namespace ?? ''
    const process = new RunnelProcess({
      ...{ name, args, logFile: this.#file(`${name}.log`), ...how },
      within: (command) => ['nsenter', `--net=${namespace}`, '--', ...command],
      onMessage: (message) => {
        const { startUs } = message as Partial<PeerNews>
        if (startUs !== undefined) this.#started.resolve(startUs)
      },
      onDeath: (how) => this.#death.abort(emulationError('PROCESS_FAILED', `${name} ended: ${how}`)),
    })
    this.#processes.push(process)
    await process.start(signal)
  }

  #record(role: 'sender' | 'receiver', flow: number): PeerRecord {
    return JSON.parse(readFileSync(this.#recordFile(role, flow), 'utf8')) as PeerRecord
  }

  #recordFile(role: 'sender' | 'receiver', flow: number): string {
    return this.#file(`${role}-${flow}.json`)
  }

  #file(name: string): string {
    return join(this.#directory, name)
  }
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
