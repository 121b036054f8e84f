import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type ClientConfig, type Message, type RunnelClient } from '@runnel/client'
import { deployRegistries, trackerRegistry } from '@runnel/contracts'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { createIdentity, generatePrivateKey, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { storagePlugin } from '@runnel/storage'
import { createTracker, type Tracker } from '@runnel/tracker'
import { JsonRpcProvider, Wallet } from 'ethers'
import { freePort } from '@runnel/transport'

const noLog = () => {}
const quietLogger = { debug: noLog, info: noLog, warn: noLog, error: noLog }

/** A network on a real chain, with a real storage node that keeps all streams made here. Users are numbered; 0 and 1 are taken. */
export class EncryptionNetwork {
  readonly chainId = 31_337
  /** Contents that the storage node was given, as text. */
  readonly stored: string[] = []
  readonly #clients: RunnelClient[] = []
  readonly #stops: (() => unknown)[] = []
  #chain: Anvil | undefined
  #tracker: Tracker | undefined
  #config: Pick<ClientConfig, 'network' | 'registry'> | undefined
  #storageNodeId = ''
  #paths = 0

  get tracker(): Tracker {
    return started(this.#tracker)
  }

  async start(): Promise<void> {
    const chain = (this.#chain = await startAnvil())
    this.#stops.push(() => chain.stop())
    const provider = new JsonRpcProvider(chain.url, this.chainId, {
      ...{ staticNetwork: true, pollingInterval: 20, cacheTimeout: -1 },
    })
    this.#stops.push(() => provider.destroy())
    const deployer = new Wallet(this.privateKeyOf(0), provider)
    const registries = await deployRegistries(deployer)
    const network = { kind: 'chain', rpcUrl: chain.url, registries } as const
    this.#config = { network, registry: { pollIntervalMs: 50 } }
    const crypto = await loadCrypto()
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    const modules = { identity, crypto, clock: systemClock, random: systemRandom }
    const tracker = (this.#tracker = createTracker({ listen: { port: 0 } }, modules))
    await tracker.start()
    this.#stops.push(() => tracker.stop())
    const trackers = trackerRegistry(registries.trackerRegistry, deployer)
    await (await trackers.addTracker(tracker.nodeId, tracker.url, '')).wait()
    await this.#startStorage()
  }

  privateKeyOf(user: number): string {
    return this.#chain?.privateKeys[user] ?? ''
  }

  addressOf(user: number): string {
    return new Wallet(this.privateKeyOf(user)).address.toLowerCase()
  }

  async clientOf(user: number, config: Partial<ClientConfig> = {}): Promise<RunnelClient> {
    const client = await createClient({
      ...{ ...started(this.#config), privateKey: this.privateKeyOf(user) },
      transports: { websocket: {}, webrtc: false },
      ...config,
    })
    this.#clients.push(client)
    return client
  }

  async newStream(owner: RunnelClient, encryption = {}): Promise<string> {
    const { id } = await owner.createStream({ path: `secret/${this.#paths++}`, metadata: { encryption } })
    await owner.addToStorageNode(id, this.#storageNodeId)
    return id
  }

  async publishStored(client: RunnelClient, streamId: string, contents: readonly unknown[]): Promise<void> {
    const sent = []
    for (const content of contents) sent.push(await client.publish(streamId, content))
    await client.waitForStorage(sent)
  }

  async history(client: RunnelClient, streamId: string): Promise<unknown[]> {
    const messages: Message[] = []
    for await (const message of client.resend(streamId, { last: 100 })) messages.push(message)
    return messages.map(({ content }) => content)
  }

  async closeClients(): Promise<void> {
    await Promise.all(this.#clients.splice(0).map((client) => client.close()))
  }

  async stop(): Promise<void> {
    await this.closeClients()
    for (const stop of this.#stops.toReversed()) await stop()
  }

  async #startStorage(): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), 'runnel-encryption-'))
    this.#stops.push(() => rmSync(directory, { recursive: true }))
    const port = await freePort()
    const privateKey = this.privateKeyOf(1)
    const storage = await createClient({
      ...{ ...started(this.#config), privateKey, nodePrivateKey: privateKey },
      transports: { websocket: { listen: { host: '127.0.0.1', port } }, webrtc: false },
    })
    this.#stops.push(() => storage.close())
    await storage.registerStorageNode(`ws://127.0.0.1:${port}`)
    this.#storageNodeId = storage.userId
    storage.network.on('batch', (_, batch) => {
      for (const { content } of batch.messages) this.stored.push(Buffer.from(content).toString('latin1'))
    })
    const plugin = storagePlugin.create(storagePlugin.schema.parse({ directory }))
    await plugin.start({ client: storage, logger: quietLogger })
    this.#stops.push(() => plugin.stop())
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('not started')
  return part
}
