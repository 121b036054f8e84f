import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type RunnelClient, type StaticNetwork } from '@runnel/client'
import { parseConfig, startBroker, type Broker } from '@runnel/node'
import {
  createIdentity,
  generatePrivateKey,
  loadCrypto,
  toStreamId,
  toStreamPartId,
  type StreamId,
} from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'

/** Two brokers with gateways, and others between them, in one overlay of links over WebSocket. */
export interface GatewayBenchNetwork {
  readonly streamId: StreamId
  /** Messages go in at the first, and come out at the second. */
  readonly brokers: readonly [Broker, Broker]
  readonly urls: readonly [string, string]
  readonly key: string
  stop(): Promise<void>
}

/** All of them, and all neighbours of somebody. */
export async function startGatewayNetwork(nodes: number): Promise<GatewayBenchNetwork> {
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(systemRandom), crypto)
  const tracker = createTracker(
    { listen: { port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const streamId = toStreamId(`${tracker.nodeId}/gateway`)
  const document: StaticNetwork = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [{ id: streamId, permissions: [{ user: 'public', publish: true, subscribe: true }] }],
  }
  const directory = mkdtempSync(join(tmpdir(), 'runnel-gateway-'))
  const key = `rk_${randomBytes(32).toString('base64url')}`
  const network = join(directory, 'network.json')
  const keysFile = join(directory, 'keys.json')
  writeFileSync(network, JSON.stringify(document))
  writeFileSync(keysFile, JSON.stringify({ version: 1, keys: [entryOf(key, streamId)] }), { mode: 0o600 })
  const config = parseConfig({
    ...{
      network,
      streams: [streamId],
      logLevel: 'silent',
      webrtc: { enabled: false },
      websocket: { port: 0 },
    },
    ...{ http: { enabled: false }, gateway: { keysFile } },
    httpGateway: { enabled: true, port: 0, webSocket: true, maxConnectionsPerAddress: 100_000 },
  })
  const brokers = [await startBroker(config, { env: {} }), await startBroker(config, { env: {} })] as const
  const clients: RunnelClient[] = []
  for (let i = brokers.length; i < nodes; i++) {
    const client = await createClient({
      network: { kind: 'static', document },
      transports: { websocket: { listen: { host: '127.0.0.1', port: 0 } }, webrtc: false },
    })
    clients.push(client)
    await client.subscribe(streamId, {}, () => {})
  }
  const streamPartId = toStreamPartId(streamId, 0)
  for (const { network: node } of [...brokers.map(({ client }) => client), ...clients])
    await node.waitForNeighbours(streamPartId)
  return {
    ...{ streamId, brokers, key },
    urls: [urlOf(brokers[0]), urlOf(brokers[1])],
    stop: async () => {
      await Promise.all([
        ...clients.map((client) => client.close()),
        ...brokers.map((broker) => broker.stop()),
      ])
      await tracker.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

function entryOf(key: string, streamId: StreamId): object {
  const keyHash = createHash('sha256').update(key).digest('hex')
  const most = { maxMessagesPerS: 10_000_000, maxBytesPerS: 10_000_000_000, maxConnections: 100_000 }
  return { name: 'bench', keyHash, publish: [streamId], subscribe: [streamId], ...most }
}

function urlOf(broker: Broker): string {
  return (broker.snapshot().plugins['httpGateway'] as { readonly url: string }).url
}
