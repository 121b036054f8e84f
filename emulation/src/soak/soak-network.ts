import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toStreamId, type StreamId } from '@runnel/protocol'
import { systemRandom } from '@runnel/protocol/system'
import { freePort } from '@runnel/transport'
import { ControlClient } from '../control/control-client.ts'
import { networkDocument } from '../places/processes/network-document.ts'
import type { RunnelProcess } from '../places/processes/runnel-process.ts'
import { applicationProgram, samplesFile, soakProcess } from './soak-process.ts'

const host = '127.0.0.1'
/** Nodes that stay, by name; every second one can be dialled, so that links are WebSockets and WebRTC. */
const staying = ['node-1', 'node-2', 'node-3', 'node-4'] as const
/** Nodes that come and go. */
const coming = ['node-5', 'node-6'] as const

/** The processes whose samples count, in the order of the table. */
export const soakProcesses = ['tracker', 'storage', ...staying, 'application'] as const

export interface SoakNetworkOptions {
  /** For everything that is written. */
  readonly directory: string
  readonly sampleEveryMs: number
  onDeath(how: string): void
}

/** A tracker, a storage node, nodes and an application on this machine, all as processes that write down what they hold. */
export class SoakNetwork {
  readonly #options: SoakNetworkOptions
  readonly #processes = new Map<string, RunnelProcess>()
  #streamId: StreamId | undefined
  #turns = 0

  constructor(options: SoakNetworkOptions) {
    this.#options = options
  }

  /** The stream that everybody is in. */
  get streamId(): StreamId {
    if (this.#streamId === undefined) throw new Error('the network has not started')
    return this.#streamId
  }

  /** What is in the network file. */
  document: object = {}

  /** Rejects with PROCESS_FAILED. */
  async start(signal: AbortSignal): Promise<void> {
    const [tracker, storage] = await Promise.all([newKey(), newKey()])
    const socket = join(this.#options.directory, 'tracker.sock')
    const trackerArgs = [`--host=${host}`, '--port=0', '--no-explorer', `--control-socket=${socket}`]
    await this.#run('tracker', ['tracker', ...trackerArgs], tracker.env, signal)
    const { websocketUrl: url } = await new ControlClient(`unix:${socket}`).info()
    const storagePort = await freePort()
    this.#streamId = toStreamId(`${tracker.nodeId}/soak`)
    const document = networkDocument({ nodeId: tracker.nodeId, url }, { id: this.#streamId })
    const storageNodes = [{ nodeId: storage.nodeId, url: `ws://${host}:${storagePort}` }]
    this.document = { ...document, streams: document.streams.map((one) => ({ ...one, storageNodes })) }
    writeFileSync(this.#networkFile, JSON.stringify(this.document), { mode: 0o600 })
    const kept = [`--storage-directory=${this.#options.directory}`, `--websocket-port=${storagePort}`]
    await this.#run('storage', this.#nodeArgs(['--storage-enabled', ...kept]), storage.env, signal)
    for (const name of [...staying, ...coming]) await this.#startNode(name, signal)
    await this.#startApplication(signal)
  }

  /** One of the nodes that come and go does: it is killed, or stops as it should, and is started anew. */
  async churn(signal: AbortSignal): Promise<void> {
    const turn = this.#turns++
    const name = coming[turn % coming.length] ?? coming[0]
    const process = this.#processes.get(name)
    await (turn % 2 === 0 ? process?.kill() : process?.stop())
    await this.#startNode(name, signal)
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(Array.from(this.#processes.values(), (process) => process.stop()))
  }

  #startNode(name: string, signal: AbortSignal): Promise<void> {
    const listens = Number(name.at(-1)) % 2 === 0
    const flags = [`--websocket-listen=${listens}`, '--websocket-port=0', `--stream=${this.streamId}`]
    return this.#run(name, this.#nodeArgs(flags), {}, signal)
  }

  #startApplication(signal: AbortSignal): Promise<void> {
    const { directory, sampleEveryMs } = this.#options
    const measurements = samplesFile(directory, 'delays')
    const args = [this.#networkFile, this.streamId, measurements, `${sampleEveryMs}`]
    return this.#run('application', args, {}, signal, applicationProgram)
  }

  #nodeArgs(flags: readonly string[]): string[] {
    return ['node', `--network=${this.#networkFile}`, '--http-enabled=false', '--log-level=warn', ...flags]
  }

  async #run(
    name: string,
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    signal: AbortSignal,
    program?: string,
  ): Promise<void> {
    const process = soakProcess({
      ...this.#options,
      ...{ name, args, env },
      ...(program === undefined ? {} : { program }),
    })
    this.#processes.set(name, process)
    await process.start(signal)
  }

  get #networkFile(): string {
    return join(this.#options.directory, 'network.json')
  }
}

async function newKey() {
  const key = generatePrivateKey(systemRandom)
  const { nodeId } = createIdentity(key, await loadCrypto())
  return { nodeId, env: { RUNNEL_PRIVATE_KEY: Buffer.from(key).toString('hex') } }
}
