import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createIdentity, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker, type Tracker } from '@runnel/tracker'
import { freePort } from '@runnel/transport'
import { newDirectory } from '../../cli.testkit.ts'
import { parseConfig } from '../../config/load-config.ts'
import type { BrokerConfigInput } from '../../config/schema.ts'
import { hashOfKey, newApiKey, writeKeysFile, type KeyEntryInput } from '../access/keys-file.ts'
import { startBroker, type Broker } from '../../node.ts'
import { mqttPlugin } from './mqtt-plugin.ts'

const crypto = await loadCrypto()

function newUser() {
  const key = generatePrivateKey(systemRandom)
  return { privateKey: toHex(key), ...createIdentity(key, crypto) }
}

/** A broker with an MQTT gateway. */
export interface Gateway {
  readonly broker: Broker
  readonly port: number
  readonly tlsPort: number | undefined
  readonly websocketPort: number | undefined
}

export interface NetworkStream {
  /** Behind the owner. */
  readonly path: string
  readonly partitions?: number
  /** Who besides the owner may read and publish. */
  readonly isPublic?: boolean
  readonly metadata?: object
  /** Whether the network's storage node keeps it: see `storageNode`. */
  readonly isStored?: boolean
}

/** A network with a tracker of its own, where one user owns the streams that clients of gateways use by its key. */
export class MqttNetwork {
  readonly directory = newDirectory()
  readonly owner = newUser()
  /** What clients give as their password; the account is called `owner`. */
  readonly apiKey = newApiKey()
  readonly #storage = newUser()
  #storagePort = 0
  readonly #keys: KeyEntryInput[] = []
  readonly #brokers: Broker[] = []
  #tracker: Tracker | undefined

  get keysFile(): string {
    return join(this.directory, 'gateway-keys.json')
  }

  async start(streams: readonly NetworkStream[]): Promise<void> {
    const tracker = createTracker(
      { listen: { port: 0 } },
      { identity: newUser(), crypto, clock: systemClock, random: systemRandom },
    )
    this.#tracker = tracker
    await tracker.start()
    this.#storagePort = await freePort()
    const storageNodes = [{ nodeId: this.#storage.nodeId, url: `ws://127.0.0.1:${this.#storagePort}` }]
    const { nodeId } = this.owner
    const all = { publish: true, subscribe: true }
    const document = {
      version: 1,
      trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
      streams: streams.map(({ path, partitions = 1, isPublic = false, metadata, isStored = false }) => ({
        id: `${nodeId}/${path}`,
        partitions,
        storageNodes: isStored ? storageNodes : [],
        permissions: [{ user: nodeId, ...all }, ...(isPublic ? [{ user: 'public', ...all }] : [])],
        ...(metadata === undefined ? {} : { metadata: JSON.stringify(metadata) }),
      })),
    }
    writeFileSync(join(this.directory, 'network.json'), JSON.stringify(document))
    writeFileSync(join(this.directory, 'owner.key'), this.owner.privateKey.slice(2), { mode: 0o600 })
    this.addKey({
      name: 'owner',
      publish: [`${nodeId}/#`],
      subscribe: [`${nodeId}/#`],
      ...this.ofOwner(this.apiKey),
    })
  }

  /** Of an entry that acts for the owner, with rates nobody reaches. */
  ofOwner(apiKey: string) {
    const rates = { maxMessagesPerS: 1_000_000, maxBytesPerS: 1_000_000_000, maxConnections: 100_000 }
    return { keyHash: hashOfKey(apiKey), ...rates }
  }

  /** Gateways that run read it within a second. */
  addKey(entry: KeyEntryInput): void {
    this.#keys.push(entry)
    writeKeysFile(this.keysFile, this.#keys)
  }

  removeKey(name: string): void {
    const at = this.#keys.findIndex((entry) => entry.name === name)
    if (at >= 0) this.#keys.splice(at, 1)
    writeKeysFile(this.keysFile, this.#keys)
  }

  /** The settings of a broker in this network. */
  config(settings: BrokerConfigInput = {}): BrokerConfigInput {
    const quiet = { logLevel: 'silent', webrtc: { enabled: false }, websocket: { port: 0 } } as const
    return {
      ...{ network: join(this.directory, 'network.json'), http: { port: 0 }, ...quiet },
      as: join(this.directory, 'owner.key'),
      ...settings,
      gateway: { keysFile: this.keysFile },
      mqtt: { enabled: true, port: 0, directory: newDirectory(), ...settings.mqtt },
    }
  }

  async gateway(settings: BrokerConfigInput = {}): Promise<Gateway> {
    const broker = await startBroker(parseConfig(this.config(settings)), {
      env: {},
      directory: this.directory,
    })
    this.#brokers.push(broker)
    const ports = broker.plugins.of(mqttPlugin)?.ports
    if (ports?.port === undefined) throw new Error('no gateway')
    const { port, tlsPort, websocketPort } = ports
    return { broker, port, tlsPort, websocketPort }
  }

  /** A broker of somebody who takes part in these streams, without a gateway. */
  async relay(paths: readonly string[]): Promise<Broker> {
    const streams = paths.map((path) => `${this.owner.nodeId}/${path}`)
    const config = { ...this.config(), as: undefined, streams, gateway: {}, mqtt: {} }
    const broker = await startBroker(parseConfig(config), { env: {}, directory: this.directory })
    this.#brokers.push(broker)
    return broker
  }

  /** The storage node that the streams of the network name. */
  async storageNode(): Promise<Broker> {
    const key = join(this.directory, 'storage.key')
    writeFileSync(key, this.#storage.privateKey.slice(2), { mode: 0o600 })
    const storage = { enabled: true, directory: join(this.directory, 'storage') }
    const websocket = { port: this.#storagePort }
    const config = { ...this.config(), as: undefined, key, storage, websocket, gateway: {}, mqtt: {} }
    const broker = await startBroker(parseConfig(config), { env: {}, directory: this.directory })
    this.#brokers.push(broker)
    return broker
  }

  /** Resolves once the broker, from now on, gets neighbours in these streams: what is published then is not published to nobody. */
  async linked({ client }: Broker, paths: readonly string[]): Promise<void> {
    const waiting = new Set(paths.map((path) => `${this.owner.nodeId}/${path}#0`))
    for await (const status of client.status()) {
      if (status.type === 'neighbours' && status.neighbours.length > 0) waiting.delete(status.streamPartId)
      if (waiting.size === 0) return
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.#brokers.splice(0).map((broker) => broker.stop()))
    await this.#tracker?.stop()
  }
}
