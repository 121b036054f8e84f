import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createClient,
  readNetworkFile,
  type ClientConfig,
  type ContentStep,
  type RunnelClient,
} from '@runnel/client'
import { deployRegistries, trackerRegistry } from '@runnel/contracts'
import { startAnvil } from '@runnel/contracts/anvil'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { JsonRpcProvider, Wallet } from 'ethers'
import { freePort } from '@runnel/transport'
import { newDirectory, runRunnel, startRunnel, type RunningCommand } from './cli.testkit.ts'

const crypto = await loadCrypto()

/** A storage node in a process of its own. */
export interface StorageProcess {
  readonly nodeId: string
  readonly command: RunningCommand
  readonly httpUrl: string
}

export interface StorageProcessOptions {
  /** False: others reach it by WebRTC alone. */
  readonly websocket?: boolean
  readonly flags?: readonly string[]
}

/** A chain with registries on it, a tracker, and whoever a test starts. */
export class StorageNetwork {
  readonly directory = newDirectory()
  readonly networkFile = join(this.directory, 'network.json')
  readonly #clients: RunnelClient[] = []
  readonly #ports = new Map<string, number>()
  readonly #stops: (() => Promise<void>)[] = []
  /** Accounts with money that nobody uses yet. */
  #accounts: string[] = []
  ownerKey = ''

  async start(): Promise<void> {
    const chain = await startAnvil()
    this.#stops.push(() => chain.stop())
    const [owner = '', ...rest] = chain.privateKeys
    this.ownerKey = owner
    this.#accounts = rest
    const provider = new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1, pollingInterval: 20 })
    const wallet = new Wallet(owner, provider)
    const registries = await deployRegistries(wallet)
    const tracker = createTracker(
      { listen: { port: 0 } },
      {
        identity: createIdentity(generatePrivateKey(systemRandom), crypto),
        ...{ crypto, clock: systemClock, random: systemRandom },
      },
    )
    await tracker.start()
    this.#stops.push(() => tracker.stop())
    const trackers = trackerRegistry(registries.trackerRegistry, wallet)
    await (await trackers.addTracker(tracker.nodeId, tracker.url, '{}')).wait()
    provider.destroy()
    const file = { version: 1, chain: { rpcUrl: chain.url, registries } }
    writeFileSync(this.networkFile, JSON.stringify(file))
  }

  /** Someone with an account and money; a key without 0x. */
  newKey(): string {
    const key = this.#accounts.shift()
    if (key === undefined) throw new Error('no accounts are left')
    return key.replace('0x', '')
  }

  async client(
    config: Partial<ClientConfig> = {},
    modules: { readonly contentSteps?: readonly ContentStep[] } = {},
  ): Promise<RunnelClient> {
    const client = await createClient(
      {
        network: readNetworkFile(this.networkFile),
        registry: { pollIntervalMs: 50 },
        transports: { websocket: {}, webrtc: false },
        ...config,
      },
      modules,
    )
    this.#clients.push(client)
    return client
  }

  /** Runs a command in the network's directory. */
  run(line: string, env: Record<string, string> = {}) {
    return runRunnel(line.split(' '), { cwd: this.directory, env })
  }

  /** Starts a storage node, with the data of its last run if there was one; the first time it registers itself. */
  async startStorage(
    name: string,
    key: string,
    options: StorageProcessOptions = {},
  ): Promise<StorageProcess> {
    const { websocket = true, flags = [] } = options
    const port = this.#ports.get(name) ?? (await freePort())
    const isNew = !this.#ports.has(name)
    this.#ports.set(name, port)
    const args = ['node', '--network', this.networkFile, '--http-port', '0']
    args.push(...(websocket ? ['--websocket-port', `${port}`] : ['--websocket-listen', 'false']))
    args.push('--storage-enabled', '--storage-directory', name, '--storage-repair-interval-ms', '300')
    const env = { RUNNEL_PRIVATE_KEY: key }
    if (isNew) {
      const url = `ws://127.0.0.1:${port}`
      const { code, stderr } = await this.run(
        `registry add-storage ${url} --network ${this.networkFile}`,
        env,
      )
      if (code !== 0) throw new Error(stderr)
    }
    const command = startRunnel([...args, ...flags], { cwd: this.directory, env })
    await command.said(/status at http:\S+\/v1\/status/)
    const [, nodeId = '', httpUrl = ''] =
      /node (0x\w+), status at (\S+)\/v1\/status/.exec(command.stderr()) ?? []
    return { nodeId, command, httpUrl }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    for (const stop of this.#stops.toReversed()) await stop()
  }
}

export interface StorageReport {
  readonly isHealthy: boolean
  readonly kept: readonly string[]
  readonly ingest: { readonly storedMessages: number }
  readonly requests: { readonly active: number; readonly sentBytes: number; readonly cancelled: number }
  readonly repair: { readonly incompleteParts: number; readonly copiedBatches: number }
  readonly usage: readonly { readonly streamPartId: string; readonly messages: number }[]
}

/** What a storage node says of itself. */
export async function reportOf({ httpUrl }: StorageProcess): Promise<StorageReport> {
  return (await (await fetch(`${httpUrl}/v1/storage`)).json()) as StorageReport
}

/** Asks a storage node how it is doing, until it is so. */
export async function untilReport(
  storage: StorageProcess,
  isSo: (report: StorageReport) => boolean,
): Promise<StorageReport> {
  for (;;) {
    const report = await reportOf(storage)
    if (isSo(report)) return report
  }
}

/** Takes everything. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
