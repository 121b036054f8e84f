import { fork, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BrokerConfigInput } from '@runnel/node'
import { createIdentity, generatePrivateKey, loadCrypto, toHex } from '@runnel/protocol'
import { systemClock, systemRandom } from '@runnel/protocol/system'
import { createTracker } from '@runnel/tracker'
import { benchError } from '../errors.ts'
import { ChildCalls } from '../child-calls.ts'
import { freePort } from '@runnel/transport'
import { usageOf } from '../../../packages/node/src/up/process-stat.ts'
import type { BrokerCalls } from './brokers-child.ts'
import { RawClient } from './raw-client.ts'

/** A server of MQTT under test. */
export interface MqttServer {
  readonly port: number
  readonly key: string | undefined
  /** Of its process. */
  usage(): Promise<{ cpuMs: number; rssBytes: number }>
}

/** Two gateways in a process each, and relays two to a process, all in the overlay of one stream. */
export interface RunnelNetwork {
  readonly gateways: readonly [MqttServer, MqttServer]
  /** Of a stream that all nodes are in. */
  readonly topic: string
  /** Of a stream that only who is subscribed to it is in. */
  readonly aloneTopic: string
  losses(): Promise<number>
  stop(): Promise<void>
}

export async function startNetwork(nodes: number): Promise<RunnelNetwork> {
  const crypto = await loadCrypto()
  const directory = mkdtempSync(join(tmpdir(), 'runnel-bench-mqtt-'))
  const newKey = () => generatePrivateKey(systemRandom)
  const identity = createIdentity(newKey(), crypto)
  const tracker = createTracker(
    { listen: { port: 0 } },
    { identity, crypto, clock: systemClock, random: systemRandom },
  )
  await tracker.start()
  const owner = newKey()
  const { nodeId } = createIdentity(owner, crypto)
  const [topic, aloneTopic] = ['bench', 'alone']
  const streamId = `${nodeId}/${topic}`
  const permissions = [{ user: 'public', publish: true, subscribe: true }]
  const document = {
    version: 1,
    trackers: [{ nodeId: tracker.nodeId, url: tracker.url }],
    streams: [topic, aloneTopic].map((path) => ({ id: `${nodeId}/${path}`, permissions })),
  }
  const write = (name: string, text: string) => {
    const path = join(directory, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const key = `rk_${randomBytes(32).toString('base64url')}`
  const rates = { maxMessagesPerS: 1_000_000, maxBytesPerS: 1_000_000_000, maxConnections: 100_000 }
  const keyHash = createHash('sha256').update(key).digest('hex')
  const entry = { name: 'bench', keyHash, publish: ['/#'], subscribe: ['/#'], ...rates }
  const common: BrokerConfigInput = {
    network: write('network.json', JSON.stringify(document)),
    ...{ logLevel: 'silent', webrtc: { enabled: false }, websocket: { port: 0 }, http: { enabled: false } },
    streams: [streamId],
  }
  const gatewayConfig: BrokerConfigInput = {
    ...common,
    as: write('owner.key', toHex(owner).slice(2)),
    gateway: { keysFile: write('keys.json', JSON.stringify({ version: 1, keys: [entry] })) },
    mqtt: { enabled: true, port: 0, maxConnections: 100_000, maxConnectionsPerAddress: 100_000 },
  }
  const children = Array.from(
    { length: Math.ceil(nodes / 2) + 1 },
    () => new ChildCalls<BrokerCalls>(forkChild()),
  )
  const [first, second, ...relays] = children
  if (first === undefined || second === undefined) throw new Error('two nodes at least')
  const serverOf = async (child: ChildCalls<BrokerCalls>): Promise<MqttServer> => {
    const mqtt = { ...gatewayConfig.mqtt, directory: mkdtempSync(join(directory, 'sessions-')) }
    const port = await child.call('start', { ...gatewayConfig, mqtt })
    if (port === undefined) throw new Error('no gateway')
    return { port, key, usage: () => child.call('usage') }
  }
  const gateways = [await serverOf(first), await serverOf(second)] as const
  for (let i = 2; i < nodes; i++) await relays[i % relays.length]?.call('start', common)
  await Promise.all(children.map((child) => child.call('settled')))
  return {
    gateways,
    topic,
    aloneTopic,
    losses: async () => (await first.call('losses')) + (await second.call('losses')),
    stop: async () => {
      await Promise.all(children.map((child) => child.call('stop')))
      await Promise.all(children.map((child) => child.stop()))
      await tracker.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

function forkChild() {
  const file = fileURLToPath(new URL('./brokers-child.ts', import.meta.url))
  return fork(file, { execArgv: ['--conditions=runnel-src'] })
}

/** Eclipse Mosquitto, for comparison. */
export async function startMosquitto(): Promise<
  MqttServer & { readonly pid: number; stop(): Promise<void> }
> {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-bench-mosquitto-'))
  const port = await freePort()
  const file = join(directory, 'mosquitto.conf')
  writeFileSync(file, `listener ${port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n`)
  // It does not raise its limit of open files itself, as Node does.
  const start = `ulimit -n "$(ulimit -Hn)"; exec env PATH="$PATH:/usr/sbin" mosquitto -c "$1"`
  const child = spawn('sh', ['-c', start, 'sh', file], { stdio: ['ignore', 'ignore', 'ignore'] })
  const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
  for (;;) {
    if (child.exitCode !== null) throw benchError('CHILD_FAILED', 'mosquitto: apt-get install mosquitto')
    const client = await RawClient.connect({ port, clientId: 'first' }).catch(() => undefined)
    client?.end()
    if (client !== undefined) break
    await pause(20)
  }
  return {
    port,
    key: undefined,
    pid: child.pid ?? 0,
    usage: async () => usageOf(child.pid ?? 0),
    stop: async () => {
      child.kill()
      await ended
      rmSync(directory, { recursive: true })
    },
  }
}
