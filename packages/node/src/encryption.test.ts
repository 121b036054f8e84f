import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type ClientConfig, type Message, type RunnelClient } from '@runnel/client'
import { deployRegistries, trackerRegistry } from '@runnel/contracts'
import { startAnvil, type Anvil } from '@runnel/contracts/anvil'
import { createIdentity, generatePrivateKey, isRunnelError, loadCrypto } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { storagePlugin } from '@runnel/storage'
import { createTracker, type Tracker } from '@runnel/tracker'
import { JsonRpcProvider, Wallet } from 'ethers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const crypto = await loadCrypto()
const noLog = () => {}
const quietLogger = { debug: noLog, info: noLog, warn: noLog, error: noLog }

/** A network on a real chain, with a real storage node that keeps all streams of `owner`. */
describe('an encrypted stream', { timeout: 60_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-encryption-'))
  const clients: RunnelClient[] = []
  let chain: Anvil
  let provider: JsonRpcProvider
  let tracker: Tracker
  let network: Pick<ClientConfig, 'network' | 'registry'>
  let storageNodeId: string
  let stopStorage: () => Promise<unknown>
  let paths = 0

  /** Bytes of the contents that the storage node was given, as text. */
  const stored: string[] = []

  async function clientOf(index: number, config: Partial<ClientConfig> = {}): Promise<RunnelClient> {
    const client = await createClient({
      ...network,
      privateKey: chain.privateKeys[index] ?? '',
      transports: { websocket: {}, webrtc: false },
      ...config,
    })
    clients.push(client)
    return client
  }

  const addressOf = (index: number) => new Wallet(chain.privateKeys[index] ?? '').address.toLowerCase()

  async function newStream(owner: RunnelClient, encryption = {}): Promise<string> {
    const { id } = await owner.createStream({ path: `secret/${paths++}`, metadata: { encryption } })
    await owner.addToStorageNode(id, storageNodeId)
    return id
  }

  async function publishStored(client: RunnelClient, streamId: string, contents: readonly unknown[]) {
    const sent = []
    for (const content of contents) sent.push(await client.publish(streamId, content))
    await client.waitForStorage(sent)
  }

  async function history(client: RunnelClient, streamId: string): Promise<unknown[]> {
    const messages: Message[] = []
    for await (const message of client.resend(streamId, { last: 100 })) messages.push(message)
    return messages.map(({ content }) => content)
  }

  beforeAll(async () => {
    chain = await startAnvil()
    provider = new JsonRpcProvider(chain.url, 31337, {
      staticNetwork: true,
      pollingInterval: 20,
      cacheTimeout: -1,
    })
    const deployer = new Wallet(chain.privateKeys[0] ?? '', provider)
    const registries = await deployRegistries(deployer)
    network = {
      network: { kind: 'chain', rpcUrl: chain.url, registries },
      registry: { pollIntervalMs: 50 },
    }
    const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
    tracker = createTracker(
      { listen: { port: 0 } },
      { identity, crypto, clock: systemClock, random: systemRandom },
    )
    await tracker.start()
    const added = await trackerRegistry(registries.trackerRegistry, deployer).addTracker(
      tracker.nodeId,
      tracker.url,
      '',
    )
    await added.wait()
    const port = await freePort()
    const privateKey = chain.privateKeys[1] ?? ''
    const storage = await createClient({
      ...{ ...network, privateKey, nodePrivateKey: privateKey },
      transports: { websocket: { listen: { host: '127.0.0.1', port } }, webrtc: false },
    })
    await storage.registerStorageNode(`ws://127.0.0.1:${port}`)
    storageNodeId = storage.userId
    storage.network.on('batch', (_, batch) => {
      for (const { content } of batch.messages) stored.push(Buffer.from(content).toString('latin1'))
    })
    const plugin = storagePlugin.create(storagePlugin.schema.parse({ directory }))
    await plugin.start({ client: storage, logger: quietLogger })
    stopStorage = async () => {
      await plugin.stop()
      await storage.close()
    }
  }, 60_000)

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
  })

  afterAll(async () => {
    await stopStorage()
    await tracker.stop()
    provider.destroy()
    await chain.stop()
    rmSync(directory, { recursive: true })
  })

  it('is read by a newcomer while everybody else is away', async () => {
    const newcomer = await clientOf(3)
    await newcomer.ensureCard()
    await newcomer.close()
    const owner = await clientOf(2)
    const streamId = await newStream(owner)
    await publishStored(owner, streamId, ['one', 'two'])
    await owner.grant(streamId, { user: addressOf(3), permissions: ['subscribe'] })
    await owner.close()
    expect(await history(await clientOf(3), streamId)).toEqual(['one', 'two'])
    expect(stored.some((text) => text.includes('one') || text.includes('two'))).toBe(false)
  })

  it('is read by its publisher after a restart, with the same epoch', async () => {
    const owner = await clientOf(2)
    const streamId = await newStream(owner)
    await publishStored(owner, streamId, ['before'])
    await owner.close()
    const again = await clientOf(2)
    await publishStored(again, streamId, ['after'])
    expect(await history(again, streamId)).toEqual(['before', 'after'])
    expect(await history(await clientOf(2), streamId)).toEqual(['before', 'after'])
  })

  it('has a new key before the next message when its owner has removed a reader', async () => {
    const owner = await clientOf(2)
    const streamId = await newStream(owner)
    const removed = await clientOf(3)
    await removed.ensureCard()
    await owner.grant(streamId, { user: removed.userId, permissions: ['subscribe'] })
    const epochs: string[] = []
    owner.network.on('batch', (_, { chain, messages }) => {
      if (chain.partition === 0) epochs.push(...messages.map(({ groupKeyId }) => groupKeyId))
    })
    await publishStored(owner, streamId, ['for both'])
    expect(await history(removed, streamId)).toEqual(['for both'])
    await owner.revoke(streamId, { user: removed.userId, permissions: ['subscribe'] })
    await publishStored(owner, streamId, ['for one'])
    expect(await history(owner, streamId)).toEqual(['for both', 'for one'])
    expect(new Set(epochs).size).toBe(2)
  })

  it('is read by a newcomer from before its publisher renewed its reading key, too', async () => {
    const newcomer = await clientOf(5)
    await newcomer.ensureCard()
    const owner = await clientOf(6)
    const streamId = await newStream(owner)
    await publishStored(owner, streamId, ['before'])
    await owner.renewReadingKey()
    await owner.close()
    const again = await clientOf(6)
    await publishStored(again, streamId, ['after'])
    await again.grant(streamId, { user: newcomer.userId, permissions: ['subscribe'] })
    await again.close()
    expect(await history(newcomer, streamId)).toEqual(['before', 'after'])
  })

  it('that keeps its history to itself gives a newcomer what comes later', async () => {
    const newcomer = await clientOf(4)
    await newcomer.ensureCard()
    const owner = await clientOf(2)
    const streamId = await newStream(owner, { history: 'none' })
    await publishStored(owner, streamId, ['before'])
    await owner.grant(streamId, { user: newcomer.userId, permissions: ['subscribe'] })
    await publishStored(owner, streamId, ['after'])
    const leftOut = nextUndecodable(newcomer)
    expect(await history(newcomer, streamId)).toEqual(['after'])
    expect(await leftOut).toBe('KEY_NOT_FOUND')
  })
})

/** The code of the error for which the next message is left out. */
async function nextUndecodable(client: RunnelClient): Promise<string | undefined> {
  for await (const status of client.status())
    if (status.type === 'undecodable') return isRunnelError(status.error) ? status.error.code : undefined
  return undefined
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
