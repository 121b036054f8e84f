import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toStreamPartId, type StreamId } from '@runnel/protocol'
import type { RunnelClient } from '@runnel/client'
import { parseConfig } from '../config/load-config.ts'
import type { BrokerConfigInput } from '../config/schema.ts'
import { startBroker, type Broker } from '../node.ts'
import { StorageNetwork, untilReport, type StorageProcess } from '../storage-network.testkit.ts'
import { httpGatewayPlugin } from './http/http-gateway-plugin.ts'
import { hashOfKey, newApiKey, writeKeysFile, type KeyEntryInput } from './access/keys-file.ts'

/** A broker with an HTTP gateway, and its keys by name. */
export interface TestGateway {
  readonly broker: Broker
  readonly url: string
  readonly keysFile: string
  readonly keys: Readonly<Record<string, string>>
  /** `fetch` with a key. */
  get(path: string, init?: RequestInit & { readonly key?: string | undefined }): Promise<Response>
}

/** A chain, a tracker, storage nodes, an owner of streams, and gateways that act for the owner. */
export class GatewayNetwork {
  readonly network = new StorageNetwork()
  readonly #stops: (() => Promise<unknown>)[] = []
  #storage: readonly StorageProcess[] = []
  #count = 0
  #owner: RunnelClient | undefined

  async start(storageNodes = 1): Promise<void> {
    await this.network.start()
    this.#owner = await this.network.client({ privateKey: this.network.ownerKey })
    const names = Array.from({ length: storageNodes }, (_, i) => `storage-${i}`)
    this.#storage = await Promise.all(
      names.map((name) => this.network.startStorage(name, this.network.newKey())),
    )
  }

  get owner(): RunnelClient {
    if (this.#owner === undefined) throw new Error('not started')
    return this.#owner
  }

  /** A stream of the owner that storage nodes keep, where there are some. */
  async newStream(path: string, partitions = 1): Promise<StreamId> {
    const { id } = await this.owner.createStream({ path, partitions })
    for (const node of this.#storage) {
      await this.owner.addToStorageNode(id, node.nodeId)
      await untilReport(node, ({ kept }) => kept.includes(toStreamPartId(id, 0)))
    }
    return id
  }

  /** Acts for the owner; `keys` are entries without their hashes, by name. */
  async gateway(
    keys: Readonly<Record<string, Omit<KeyEntryInput, 'name' | 'keyHash'>>>,
    settings: BrokerConfigInput = {},
  ): Promise<TestGateway> {
    const { directory, networkFile, ownerKey } = this.network
    const name = `gateway-${this.#count++}`
    const keysFile = join(directory, `${name}.keys.json`)
    const made = Object.fromEntries(Object.keys(keys).map((of) => [of, newApiKey()]))
    writeKeysFile(
      keysFile,
      Object.entries(keys).map(([of, entry]) => ({ name: of, keyHash: hashOfKey(made[of] ?? ''), ...entry })),
    )
    const as = join(directory, `${name}.key`)
    writeFileSync(as, ownerKey.slice(2), { mode: 0o600 })
    const { httpGateway, ...others } = settings
    const config = parseConfig({
      ...{ network: networkFile, as, logLevel: 'silent', webrtc: { enabled: false } },
      ...{ websocket: { port: 0 }, http: { port: 0 }, gateway: { keysFile } },
      httpGateway: { enabled: true, port: 0, ...httpGateway },
      ...others,
    })
    const broker = await startBroker(config, { env: {}, directory })
    this.#stops.push(() => broker.stop())
    const url = broker.plugins.of(httpGatewayPlugin)?.url ?? ''
    const [first] = Object.values(made)
    return {
      ...{ broker, url, keysFile, keys: made },
      get: (path, { key = first, headers, ...init } = {}) =>
        fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } }),
    }
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop()
    await this.network.stop()
  }
}

/** The path of a stream at a gateway. */
export function streamPath(streamId: string, rest: string): string {
  return `/v1/streams/${encodeURIComponent(streamId)}/${rest}`
}
