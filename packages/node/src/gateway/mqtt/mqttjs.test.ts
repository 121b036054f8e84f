import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import type { IClientOptions } from 'mqtt'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '../access/keys-file.ts'
import { MqttNetwork, type Gateway } from './mqtt-network.testkit.ts'
import { connectJs, type JsClient } from './mqttjs.testkit.ts'

const paths = ['a', 'b', 'c', 'wills', 'house/hall/temp', 'house/roof/temp', 'house/roof/wind']

describe('MQTT.js', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()
  const { directory } = network
  let gateway: Gateway
  const clients: JsClient[] = []

  beforeAll(async () => {
    for (const name of ['server', 'device'])
      execFileSync(
        'openssl',
        [
          ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
          ...['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
          ...['-keyout', join(directory, `${name}.key`), '-out', join(directory, `${name}.pem`)],
        ],
        { stdio: 'ignore' },
      )
    const streams = paths.map((path) => ({ path, metadata: { lastValues: true } }))
    await network.start([...streams, { path: 'many', partitions: 4 }])
    const { fingerprint256 } = new X509Certificate(readFileSync(join(directory, 'device.pem')))
    const certificate = fingerprint256.replaceAll(':', '').toLowerCase()
    network.addKey({ name: 'device', certificate, publish: ['/a'], subscribe: [] })
    const [certFile, keyFile] = ['server.pem', 'server.key'].map((name) => join(directory, name))
    gateway = await network.gateway({ mqtt: { certFile, keyFile, tlsPort: 0, websocketPort: 0 } })
  })
  afterEach(async () => {
    for (const { client } of clients.splice(0)) await client.endAsync(true)
  })
  afterAll(() => network.stop())

  async function connect(
    options: IClientOptions = {},
    url = `mqtt://127.0.0.1:${gateway.port}`,
  ): Promise<JsClient> {
    const client = await connectJs(url, network.apiKey, options)
    clients.push(client)
    return client
  }

  async function connect5(options: IClientOptions = {}): Promise<JsClient> {
    return connect({ protocolVersion: 5, ...options })
  }

  describe('over', () => {
    const ca = () => readFileSync(join(directory, 'server.pem'))
    const urls = {
      TCP: () => `mqtt://127.0.0.1:${gateway.port}`,
      TLS: () => `mqtts://127.0.0.1:${gateway.tlsPort}`,
      WebSocket: () => `wss://127.0.0.1:${gateway.websocketPort}`,
    }
    for (const [name, url] of Object.entries(urls))
      for (const protocolVersion of [4, 5] as const)
        it(`${name} with version ${protocolVersion} publishes and subscribes`, async () => {
          const client = await connect({ protocolVersion, ca: ca() }, url())
          const [granted] = await client.client.subscribeAsync('a', { qos: 1 })
          expect(granted?.qos).toBe(1)
          for (const qos of [0, 1] as const) await client.client.publishAsync('a', `${name} ${qos}`, { qos })
          expect(await client.texts(2)).toEqual([`${name} 0`, `${name} 1`])
        })

    it('TLS with a client certificate instead of a key', async () => {
      const [cert, key] = ['device.pem', 'device.key'].map((file) => readFileSync(join(directory, file)))
      const options = {
        ca: ca(),
        cert,
        key,
        username: undefined,
        password: undefined,
        protocolVersion: 5,
      } as const
      const client = await connect(options as unknown as IClientOptions, urls.TLS())
      await client.client.publishAsync('a', 'from a device', { qos: 1 })
      await expect(client.client.publishAsync('b', 'not allowed', { qos: 1 })).rejects.toMatchObject({
        code: 0x87,
      })
      await expect(client.client.subscribeAsync('a')).rejects.toMatchObject({ packet: { granted: [0x87] } })
    })

    it('TLS with a certificate that no key has is told so', async () => {
      const [cert, key] = ['server.pem', 'server.key'].map((file) => readFileSync(join(directory, file)))
      const options = { ca: ca(), cert, key, username: undefined, password: undefined, protocolVersion: 5 }
      const refused = connect(options as unknown as IClientOptions, urls.TLS())
      await expect(refused).rejects.toMatchObject({ code: 0x87 })
    })

    it('WebSocket with a client certificate, unless the page of another origin opened it', async () => {
      const [cert, key] = ['device.pem', 'device.key'].map((file) => readFileSync(join(directory, file)))
      const connectFrom = (headers: object) => {
        const options = { ca: ca(), cert, key, username: undefined, password: undefined, protocolVersion: 5 }
        return connect({ ...options, wsOptions: { headers } } as unknown as IClientOptions, urls.WebSocket())
      }
      const { host } = new URL(urls.WebSocket())
      for (const headers of [{}, { origin: `https://${host}` }]) {
        const client = await connectFrom(headers)
        await client.client.publishAsync('a', 'from a device', { qos: 1 })
      }
      const refused = connectFrom({ origin: 'https://elsewhere.example' })
      await expect(refused).rejects.toMatchObject({ code: 0x87 })
    })

    it('WebSocket without the sub-protocol of MQTT is refused', async () => {
      const answer = await new Promise((resolve) => {
        const socket = new WebSocket(`wss://127.0.0.1:${gateway.websocketPort}`)
        socket.onerror = () => resolve('refused')
        socket.onopen = () => resolve('open')
      })
      expect(answer).toBe('refused')
    })
  })

  it('gives properties back as they were', async () => {
    const client = await connect5()
    await client.client.subscribeAsync('b', { qos: 1, properties: { subscriptionIdentifier: 7 } })
    const properties = {
      payloadFormatIndicator: true,
      contentType: 'application/json',
      responseTopic: 'replies/mine',
      correlationData: Buffer.from([0, 255, 1]),
      userProperties: { unit: 'C', tag: ['one', 'two'], 'mqtt-odd': 'x' },
    }
    const payload = '{ "t" : 21 }'
    await client.client.publishAsync('b', payload, { qos: 1, properties })
    await client.client.publishAsync('b', Buffer.from([0xff, 0, 1]), { qos: 1 })
    const [first, second] = await client.take(2)
    expect(first?.payload.toString()).toBe(payload)
    expect(first?.properties).toMatchObject({ ...properties, subscriptionIdentifier: 7 })
    expect(second?.payload).toEqual(Buffer.from([0xff, 0, 1]))
  })

  it('speaks with the SDK: JSON, text and headers both ways', async () => {
    const client = await connect5()
    await client.client.subscribeAsync('c', { qos: 1 })
    const sdk = gateway.broker.client
    const subscription = await sdk.subscribe('/c')
    const iterator = subscription[Symbol.asyncIterator]()
    const heard = async (): Promise<unknown> => (await iterator.next()).value as unknown
    await client.client.publishAsync('c', '{ "t": 21 }', {
      qos: 1,
      properties: { userProperties: { unit: 'C' } },
    })
    expect(await heard()).toMatchObject({ content: { t: 21 }, contentType: 'json', headers: { unit: 'C' } })
    await client.client.publishAsync('c', 'plain', { qos: 1 })
    expect(await heard()).toMatchObject({ content: 'plain', contentType: 'text' })
    await sdk.publish('/c', { t: 22 }, { headers: { unit: 'K' } })
    const [, , third] = await client.take(3)
    expect(third?.payload.toString()).toBe('{"t":22}')
    expect(third?.properties?.userProperties).toEqual({ unit: 'K' })
    await subscription.unsubscribe()
  })

  it('retains the last value for who subscribes later, until it is removed', async () => {
    const client = await connect()
    await client.client.publishAsync('house/hall/temp', '20', { qos: 1, retain: true })
    await client.client.publishAsync('house/roof/temp', '5', { qos: 1, retain: true })
    const other = await connect5()
    await other.client.subscribeAsync('house/hall/temp', { qos: 1 })
    const [retained] = await other.take(1)
    expect(retained).toMatchObject({ topic: 'house/hall/temp', retain: true, payload: Buffer.from('20') })
    await client.client.publishAsync('house/hall/temp', '21', { qos: 1, retain: true })
    expect((await other.take(1))[0]).toMatchObject({ retain: false, payload: Buffer.from('21') })
    const third = await connect()
    await third.client.subscribeAsync('house/+/temp')
    expect((await third.texts(2)).sort()).toEqual(['21', '5'])
    await client.client.publishAsync('house/hall/temp', '', { qos: 1, retain: true })
    expect(await third.texts(1)).toEqual([''])
    const fourth = await connect5()
    await fourth.client.subscribeAsync('house/hall/temp', { qos: 0, rh: 0 })
    await client.client.publishAsync('house/hall/temp', 'after', { qos: 1 })
    expect(await fourth.texts(1)).toEqual(['after'])
  })

  it('matches + and #', async () => {
    const client = await connect()
    await client.client.subscribeAsync('house/roof/#', { qos: 1 })
    const plus = await connect()
    await plus.client.subscribeAsync('house/+/temp', { qos: 1 })
    for (const topic of ['house/roof/wind', 'house/roof/temp'])
      await client.client.publishAsync(topic, topic, { qos: 1 })
    expect((await client.take(3)).filter(({ retain }) => !retain).map(({ topic }) => topic)).toHaveLength(2)
    const got = (await plus.take(2)).filter(({ retain }) => !retain)
    expect(got.map(({ topic }) => topic)).toEqual(['house/roof/temp'])
  })

  it('is told why it cannot publish or subscribe', async () => {
    const client = await connect5()
    await expect(client.client.subscribeAsync('no spaces')).rejects.toMatchObject({
      packet: { granted: [0x8f] },
    })
    await expect(client.client.subscribeAsync('none/such')).rejects.toMatchObject({
      packet: { granted: [0x8f] },
    })
    await expect(client.client.publishAsync('none/such', 'x', { qos: 1 })).rejects.toMatchObject({
      code: 0x90,
    })
    const older = await connect()
    await expect(older.client.subscribeAsync('none/such')).rejects.toMatchObject({
      packet: { granted: [0x80] },
    })
    // It has no word for that, and an acknowledgement would say that it is published.
    const closed = new Promise<void>((resolve) => older.client.on('close', resolve))
    older.client.publish('none/such', 'x', { qos: 1 })
    await closed
  })

  it('publishes its will when it is cut off, and not after DISCONNECT', async () => {
    const watcher = await connect()
    await watcher.client.subscribeAsync('wills', { qos: 1 })
    const will = { topic: 'wills', payload: Buffer.from('cut off'), qos: 1, retain: false } as const
    const graceful = await connect({ clientId: 'graceful', will: { ...will, payload: Buffer.from('never') } })
    await graceful.client.endAsync()
    const cut = await connect({ clientId: 'cut', will })
    await cut.cut()
    const delayed = await connect5({
      clientId: 'delayed',
      properties: { sessionExpiryInterval: 60 },
      will: { ...will, payload: Buffer.from('delayed'), properties: { willDelayInterval: 1 } },
    })
    await delayed.cut()
    expect(await watcher.texts(2)).toEqual(['cut off', 'delayed'])
  })

  it('goes on with its session: what it missed, and what it did not acknowledge', async () => {
    const options = { clientId: 'kept', clean: false } as const
    const first = await connect(options)
    await first.client.subscribeAsync('a', { qos: 1 })
    await first.cut()
    const publisher = await connect()
    for (const text of ['one', 'two', 'three']) await publisher.client.publishAsync('a', text, { qos: 1 })
    const second = await connect(options)
    expect(await second.texts(3)).toEqual(['one', 'two', 'three'])
    await second.client.unsubscribeAsync('a')
    await second.client.endAsync()
    const clean = await connect({ ...options, clean: true })
    await clean.client.subscribeAsync('a', { qos: 1 })
    await publisher.client.publishAsync('a', 'four', { qos: 1 })
    expect(await clean.texts(1)).toEqual(['four'])
  })

  it('shares a subscription: each message goes to one of the group', async () => {
    const members = [await connect5(), await connect5()]
    for (const { client } of members) await client.subscribeAsync('$share/workers/b', { qos: 1 })
    const publisher = await connect()
    for (let i = 0; i < 10; i++) await publisher.client.publishAsync('b', `${i}`, { qos: 1 })
    const shares = await Promise.all(members.map((member) => member.texts(5)))
    expect(shares.flat().sort()).toEqual(Array.from({ length: 10 }, (_, i) => `${i}`))
  })

  it('does not get its own messages back with No Local, nor what has expired', async () => {
    const client = await connect5()
    const publisher = await connect5()
    await client.client.subscribeAsync('c', { qos: 1, nl: true })
    await client.client.publishAsync('c', 'mine', { qos: 1 })
    await publisher.client.publishAsync('c', 'theirs', { qos: 1, properties: { messageExpiryInterval: 100 } })
    const [got] = await client.take(1)
    expect(got?.payload.toString()).toBe('theirs')
    expect(got?.properties?.messageExpiryInterval).toBeLessThanOrEqual(100)
  })

  it('says and selects partitions behind @', async () => {
    const client = await connect()
    await client.client.subscribeAsync('many@2', { qos: 1 })
    for (const partition of [0, 1, 2, 3])
      await client.client.publishAsync(`many@${partition}`, `${partition}`, { qos: 1 })
    expect((await client.take(1))[0]).toMatchObject({ topic: 'many@2', payload: Buffer.from('2') })
  })

  it('settles QoS 2 in both directions', async () => {
    for (const protocolVersion of [4, 5] as const) {
      const client = await connect({ protocolVersion })
      await client.client.subscribeAsync('a', { qos: 2 })
      await client.client.publishAsync('a', 'once', { qos: 2 })
      expect((await client.take(1))[0]).toMatchObject({ qos: 2, payload: Buffer.from('once') })
      await client.client.endAsync()
    }
  })

  it('uses topic aliases', async () => {
    const client = await connect5({ autoAssignTopicAlias: true, autoUseTopicAlias: true })
    await client.client.subscribeAsync('a', { qos: 1 })
    for (const text of ['1', '2', '3']) await client.client.publishAsync('a', text)
    expect(await client.texts(3)).toEqual(['1', '2', '3'])
  })

  it('is refused filters that its key is for no stream of, and is put out when that is taken away', async () => {
    const key = newApiKey()
    network.addKey({ ...network.ofOwner(key), name: 'leaver', publish: ['/a'], subscribe: ['/a'] })
    const url = `mqtt://127.0.0.1:${gateway.port}`
    let client: JsClient | undefined
    // The file is read within a second.
    while (client === undefined)
      client = await connectJs(url, key, { protocolVersion: 5 }).catch(() => undefined)
    const { client: leaver } = client
    // It can have messages of `#`, and none of the others whatever streams there will be.
    await expect(leaver.subscribeAsync('#')).resolves.toMatchObject([{ qos: 0 }])
    for (const filter of ['b', 'b/#', 'b/+/c', '$share/group/b/#', `0x${'0'.repeat(40)}/#`])
      await expect(leaver.subscribeAsync(filter)).rejects.toMatchObject({ packet: { granted: [0x87] } })
    const said = new Promise<number | undefined>((resolve) =>
      leaver.on('disconnect', ({ reasonCode }) => resolve(reasonCode)),
    )
    network.removeKey('leaver')
    expect(await said).toBe(0x87)
    await leaver.endAsync(true)
  })
})
