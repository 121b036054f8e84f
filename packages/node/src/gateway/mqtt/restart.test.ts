import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { newDirectory, startRunnel, stopAll, type RunningCommand } from '../../cli.testkit.ts'
import { newApiKey } from '../access/keys-file.ts'
import { mosquittoPub, mosquittoSub } from './mosquitto.testkit.ts'
import { MqttNetwork } from './mqtt-network.testkit.ts'
import { connectJs, type JsClient } from './mqttjs.testkit.ts'

const texts = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i}`)

/** A gateway in a process of its own, which is killed and started again. */
class KilledGateway {
  port = 0
  readonly directory = newDirectory()
  readonly #network: MqttNetwork
  #running: RunningCommand | undefined

  constructor(network: MqttNetwork) {
    this.#network = network
  }

  get url(): string {
    return `mqtt://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    this.port ||= await freePort()
    const file = join(this.directory, 'gateway.json')
    const { port, directory } = this
    writeFileSync(file, JSON.stringify(this.#network.config({ logLevel: 'info', mqtt: { port, directory } })))
    this.#running = startRunnel(['node', '--config', file])
    await this.#running.said('the node is running')
  }

  /** Resolves once its log has the text. */
  async said(text: string): Promise<void> {
    await this.#running?.said(text)
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#running?.process.kill(signal)
    await this.#running?.ended
  }
}

describe('sessions outlast the process of their gateway', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()
  let other: number
  let member: JsClient

  beforeAll(async () => {
    await network.start([
      { path: 'kept', isStored: true },
      { path: 'below/one', isStored: true },
      { path: 'below/two' },
      { path: 'plain' },
    ])
    const linked = network.linked(await network.storageNode(), ['kept', 'below/one'])
    await network.relay(['plain', 'below/two'])
    other = (await network.gateway()).port
    // It is in the streams all the while, beside the storage node.
    member = await connectJs(`mqtt://127.0.0.1:${other}`, network.apiKey)
    await member.client.subscribeAsync(['kept', 'below/one'])
    await linked
  })
  afterAll(async () => {
    await member.client.endAsync(true)
    await stopAll()
    await network.stop()
  })

  const connect = (gateway: KilledGateway, clientId: string, more: object = {}) =>
    connectJs(gateway.url, network.apiKey, { clientId, clean: false, ...more })
  const publish = (topic: string, lines: readonly string[]) =>
    mosquittoPub({ port: other, key: network.apiKey, topic, qos: 1 }, lines)

  /** Whoever else reads there has what the gateway has; a filter that is granted is written, with all before it. */
  async function untilWritten(reader: JsClient, topic: string, count: number): Promise<void> {
    await reader.take(count)
    await reader.client.subscribeAsync(topic, { qos: 1 })
  }

  it('kept by kill -9: what waited, and what was published while there was no gateway, each once and in order', async () => {
    const gateway = new KilledGateway(network)
    await gateway.start()
    const away = await connect(gateway, 'away')
    await away.client.subscribeAsync('kept', { qos: 1 })
    await publish('kept', texts(0, 3))
    expect(await away.texts(3)).toEqual(texts(0, 3))
    await away.client.endAsync()
    await publish('kept', texts(3, 20))
    await gateway.end('SIGKILL')
    await publish('kept', texts(20, 40))
    await gateway.start()
    const back = await connect(gateway, 'away')
    expect(back.isSessionPresent).toBe(true)
    expect(await back.texts(37)).toEqual(texts(3, 40))
    await publish('kept', ['live'])
    expect(await back.texts(1)).toEqual(['live'])
    await back.client.endAsync()
    await gateway.end('SIGKILL')
  })

  it('with what waits in a stream that nobody stores, and with packet identifiers that are not acknowledged', async () => {
    const gateway = new KilledGateway(network)
    await gateway.start()
    const reader = await connect(gateway, 'reader')
    const slow = await connect(gateway, 'slow')
    // It acknowledges nothing, and takes nothing more.
    slow.client.handleMessage = () => {}
    for (const { client } of [reader, slow]) await client.subscribeAsync('plain', { qos: 1 })
    await publish('plain', texts(0, 5))
    const [sent] = await slow.take(1)
    await untilWritten(reader, 'plain', 5)
    await slow.cut()
    await publish('plain', texts(5, 10))
    await untilWritten(reader, 'plain', 5)
    await gateway.end('SIGKILL')
    await gateway.start()
    const back = await connect(gateway, 'slow')
    expect(back.isSessionPresent).toBe(true)
    const again = await back.take(10)
    const what = ({ messageId, payload }: (typeof again)[number]) => [messageId, payload.toString()]
    expect(again.slice(0, 5).map(what)).toEqual(
      texts(0, 5).map((text, i) => [(sent?.messageId ?? 0) + i, text]),
    )
    expect(again.map(({ dup }) => dup)).toEqual([
      ...texts(0, 5).map(() => true),
      ...texts(5, 10).map(() => false),
    ])
    expect(again.slice(5).map(({ payload }) => payload.toString())).toEqual(texts(5, 10))
    for (const { client } of [reader, back]) await client.endAsync(true)
    await gateway.end('SIGKILL')
  })

  it('and leave their wills after their delays, also those whose clients were there', async () => {
    const gateway = new KilledGateway(network)
    await gateway.start()
    const watcher = await connectJs(`mqtt://127.0.0.1:${other}`, network.apiKey)
    await watcher.client.subscribeAsync('plain', { qos: 1 })
    for (const [clientId, willDelayInterval] of [
      ['cut', 20],
      ['there', 2],
    ] as const) {
      const will = { topic: 'plain', payload: Buffer.from(clientId), qos: 1, retain: false } as const
      const { client } = await connect(gateway, clientId, {
        ...{ protocolVersion: 5, properties: { sessionExpiryInterval: 2 } },
        will: { ...will, properties: { willDelayInterval } },
      })
      if (clientId === 'cut') client.stream.destroy()
    }
    await gateway.end('SIGKILL')
    await gateway.start()
    expect((await watcher.texts(2)).sort()).toEqual(['cut', 'there'])
    await watcher.client.endAsync(true)
    await gateway.end('SIGKILL')
  })

  it('of filters with wildcards, over streams that are stored and others, with mosquitto_sub', async () => {
    const gateway = new KilledGateway(network)
    await gateway.start()
    const more = ['-c', '-i', 'mosquitto']
    const at = { port: gateway.port, key: network.apiKey, topic: 'below/#', qos: 1, more } as const
    const first = mosquittoSub(at)
    await first.subscribed
    await first.end()
    await gateway.end('SIGKILL')
    await publish('below/one', texts(0, 10))
    await gateway.start()
    const back = mosquittoSub(at)
    const text = async (count: number) => (await back.take(count)).map((line) => line.split('|')[2])
    expect(await text(10)).toEqual(texts(0, 10))
    await publish('below/two', ['live'])
    expect(await text(1)).toEqual(['live'])
    await back.end()
    await gateway.end('SIGKILL')
  })
})

// A node that was not there is dialled again after up to half a minute.
describe('sessions whose gateway comes back before the storage node', { timeout: 180_000 }, () => {
  const network = new MqttNetwork()
  afterAll(async () => {
    await stopAll()
    await network.stop()
  })

  it('get what was published meanwhile once there is one', async () => {
    await network.start([{ path: 'kept', isStored: true }])
    const storage = await network.storageNode()
    const { port } = await network.gateway()
    const publish = (lines: readonly string[]) =>
      mosquittoPub({ port, key: network.apiKey, topic: 'kept', qos: 1 }, lines)
    const gateway = new KilledGateway(network)
    await gateway.start()
    const away = await connectJs(gateway.url, network.apiKey, { clientId: 'away', clean: false })
    await away.client.subscribeAsync('kept', { qos: 1 })
    await publish(texts(0, 3))
    expect(await away.texts(3)).toEqual(texts(0, 3))
    await away.client.endAsync()
    // A filter that is granted is written, with all before it: what the other client acknowledged.
    const later = await connectJs(gateway.url, network.apiKey, { clientId: 'later', clean: false })
    await later.client.subscribeAsync('kept', { qos: 1 })
    await later.client.endAsync()
    await gateway.end('SIGKILL')
    await publish(texts(3, 20))
    await storage.stop()
    await gateway.start()
    const back = await connectJs(gateway.url, network.apiKey, { clientId: 'away', clean: false })
    expect(back.isSessionPresent).toBe(true)
    await gateway.said('what MQTT sessions missed is not read yet')
    await network.storageNode()
    // What neighbours had came before it, and comes again.
    const came = new Set<string>()
    while (came.size < 17) for (const text of await back.texts(1)) came.add(text)
    expect([...came].sort((a, b) => Number(a) - Number(b))).toEqual(texts(3, 20))
    await publish(['live'])
    while (!came.has('live')) for (const text of await back.texts(1)) came.add(text)
    expect(came.size).toBe(18)
    await back.client.endAsync()
    await gateway.end('SIGKILL')
  })
})

describe('sessions after a proper stop of their gateway', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()

  beforeAll(async () => {
    await network.start([{ path: 'kept', isStored: true }, { path: 'less' }, { path: 'more' }])
    await network.storageNode()
  })
  afterAll(async () => {
    await stopAll()
    await network.stop()
  })

  it('go on; not where a client asks for a clean one, or its key is gone', async () => {
    const gateway = new KilledGateway(network)
    const { apiKey } = network
    const ofKey = { name: 'gone', subscribe: [`${network.owner.nodeId}/#`], ...network.ofOwner('rk_gone') }
    const clients = [
      ['kept', apiKey, false],
      ['clean', apiKey, true],
      ['of a key', 'rk_gone', false],
    ] as const
    network.addKey(ofKey)
    await gateway.start()
    for (const [clientId, key, clean] of clients) {
      const { client } = await connectJs(gateway.url, key, { clientId, clean })
      await client.subscribeAsync('kept', { qos: 1 })
      await client.endAsync()
    }
    network.removeKey('gone')
    await gateway.end('SIGTERM')
    network.addKey({ ...ofKey, name: 'another' })
    await gateway.start()
    const present: boolean[] = []
    for (const [clientId, key] of clients) {
      const js = await connectJs(gateway.url, key, { clientId, clean: false })
      present.push(js.isSessionPresent)
      if (clientId === 'kept') {
        const publishing = mosquittoPub({ port: gateway.port, key: apiKey, topic: 'kept', qos: 1 }, ['again'])
        expect(await js.texts(1)).toEqual(['again'])
        await publishing
      }
      await js.client.endAsync()
    }
    expect(present).toEqual([true, false, false])
    expect(statSync(join(gateway.directory, 'sessions.sqlite')).mode & 0o777).toBe(0o600)
    await gateway.end('SIGKILL')
  })

  it('without what waits for a key that is for less by then', async () => {
    const directory = newDirectory()
    const key = newApiKey()
    const entry = { name: 'narrowed', publish: ['/#'], ...network.ofOwner(key) }
    network.addKey({ ...entry, subscribe: ['/#'] })
    const first = await network.gateway({ mqtt: { directory } })
    const reader = await connectJs(`mqtt://127.0.0.1:${first.port}`, key, { clientId: 'r', clean: false })
    await reader.client.subscribeAsync(['less', 'more'], { qos: 1 })
    await reader.client.endAsync()
    const publisher = { port: first.port, key, qos: 1 } as const
    await mosquittoPub({ ...publisher, topic: 'less' }, ['secret'])
    await mosquittoPub({ ...publisher, topic: 'more' }, ['open'])
    await first.broker.stop()
    network.removeKey('narrowed')
    network.addKey({ ...entry, subscribe: ['/more'] })
    const second = await network.gateway({ mqtt: { directory } })
    const url = `mqtt://127.0.0.1:${second.port}`
    const back = await connectJs(url, key, { clientId: 'r', clean: false })
    expect([back.isSessionPresent, await back.texts(1)]).toEqual([true, ['open']])
    await back.client.endAsync()
  })
})
