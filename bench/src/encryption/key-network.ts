import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type ClientConfig, type RunnelClient } from '@runnel/client'
import { deployRegistries, trackerRegistry } from '@runnel/contracts'
import { startAnvil } from '@runnel/contracts/anvil'
import { parseConfig, startBroker } from '@runnel/node'
import { generatePrivateKey, loadCrypto, type StreamId } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { JsonRpcProvider, Wallet } from 'ethers'
import { freePort } from '@runnel/transport'
import { newIdentity } from '../swarm.ts'

/** A real chain with registries on it, a tracker, and storage nodes with SQLite, all in this process; and clients of users. */
export class KeyNetwork {
  readonly #directory = mkdtempSync(join(tmpdir(), 'runnel-encryption-'))
  readonly #stops: (() => Promise<unknown>)[] = []
  /** Keys of accounts with money. */
  #accounts: string[] = []
  #network: ClientConfig['network'] | undefined
  readonly #storageNodes: string[] = []

  static async start(storageNodes: number): Promise<KeyNetwork> {
    const network = new KeyNetwork()
    await network.#start()
    for (let i = 0; i < storageNodes; i++) await network.#addStorageNode(i)
    return network
  }

  /** The key of an account with money that nobody else uses. */
  newAccount(): string {
    const key = this.#accounts.shift()
    if (key === undefined) throw new Error('no accounts are left')
    return key
  }

  /** The key of a user without money. */
  newUser(): string {
    return Buffer.from(generatePrivateKey(systemRandom)).toString('hex')
  }

  /** With the client's own defaults, but for what it listens on. */
  async client(privateKey: string): Promise<RunnelClient> {
    if (this.#network === undefined) throw new Error('not started')
    const transports = { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false } as const
    const client = await createClient({ network: this.#network, transports, privateKey })
    this.#stops.push(() => client.close())
    return client
  }

  /** A stream that its owner and who it grants that may read, kept by all storage nodes; encrypted, or as ever in the clear. */
  async newStream(owner: RunnelClient, path: string, isEncrypted: boolean): Promise<StreamId> {
    const metadata = { encryption: { content: isEncrypted ? 'always' : 'never' } }
    const { id } = await owner.createStream({ path, metadata })
    for (const nodeId of this.#storageNodes) await owner.addToStorageNode(id, nodeId)
    return id
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop()
    rmSync(this.#directory, { recursive: true })
  }

  async #start(): Promise<void> {
    const chain = await startAnvil()
    this.#stops.push(() => chain.stop())
    const [deployer = '', ...rest] = chain.privateKeys
    this.#accounts = rest
    const provider = new JsonRpcProvider(chain.url, undefined, { cacheTimeout: -1, pollingInterval: 20 })
    const wallet = new Wallet(deployer, provider)
    const registries = await deployRegistries(wallet)
    const crypto = await loadCrypto()
    const tracker = createTracker(
      { listen: { port: 0 } },
      { identity: newIdentity(crypto), crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    this.#stops.push(() => tracker.stop())
    const trackers = trackerRegistry(registries.trackerRegistry, wallet)
    await (await trackers.addTracker(tracker.nodeId, tracker.url, '{}')).wait()
    provider.destroy()
    this.#network = { kind: 'chain', rpcUrl: chain.url, registries }
    writeFileSync(this.#file, JSON.stringify({ version: 1, chain: { rpcUrl: chain.url, registries } }))
  }

  async #addStorageNode(index: number): Promise<void> {
    const [privateKey, port] = [this.newAccount(), await freePort()]
    const client = await this.client(privateKey)
    await client.registerStorageNode(`ws://127.0.0.1:${port}`)
    this.#storageNodes.push(client.userId)
    await client.close()
    const config = parseConfig({
      ...{ network: this.#file, logLevel: 'error', http: { enabled: false }, webrtc: { enabled: false } },
      websocket: { port },
      storage: { enabled: true, directory: join(this.#directory, `storage${index}`) },
    })
    const broker = await startBroker(config, { env: { RUNNEL_PRIVATE_KEY: privateKey.replace('0x', '') } })
    this.#stops.push(() => broker.stop())
  }

  get #file(): string {
    return join(this.#directory, 'network.json')
  }
}
