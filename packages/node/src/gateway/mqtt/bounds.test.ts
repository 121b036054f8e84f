import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Packet } from 'mqtt-packet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newApiKey } from '../access/keys-file.ts'
import { encode } from './codec.ts'
import { Reason } from './core/reasons.ts'
import type { Counters } from './counters.ts'
import { mqttLimits } from './limits.ts'
import { MqttNetwork, type Gateway } from './mqtt-network.testkit.ts'
import { connectJs } from './mqttjs.testkit.ts'

describe('a gateway', { timeout: 60_000 }, () => {
  const network = new MqttNetwork()
  const rareKey = newApiKey()
  const singleKey = newApiKey()
  let gateway: Gateway
  const sockets: Socket[] = []

  beforeAll(async () => {
    await network.start([{ path: 'a' }])
    const subscribe = [`${network.owner.nodeId}/#`]
    network.addKey({ name: 'rare', ...network.ofOwner(rareKey), subscribe, maxMessagesPerS: 1 })
    network.addKey({ name: 'single', ...network.ofOwner(singleKey), maxConnections: 1 })
    gateway = await network.gateway({ mqtt: { maxConnectionsPerAddress: 4 } })
  })
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await network.stop()
  })

  const counters = () => gateway.broker.snapshot().plugins['mqtt'] as Counters & { connections: number }

  /** A socket that says this, and reads nothing unless it is told to. */
  async function open(...packets: readonly Packet[]): Promise<Socket> {
    const socket = connect(gateway.port, '127.0.0.1')
    sockets.push(socket)
    socket.pause()
    await once(socket, 'connect')
    for (const packet of packets) socket.write(encode(packet, 4))
    return socket
  }

  const hello = (clientId: string): Packet => ({
    ...{ cmd: 'connect', clientId, clean: true, username: 'owner', password: Buffer.from(network.apiKey) },
  })

  it('keeps what waits for a client that never reads within its bounds, and serves the others', async () => {
    const mute = await open(hello('mute'), {
      ...{ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 1 }] },
    })
    const js = await connectJs(`mqtt://127.0.0.1:${gateway.port}`, network.apiKey)
    await js.client.subscribeAsync('a', { qos: 1 })
    const payload = Buffer.alloc(20_000, 'x')
    // Until more has come than its socket, its window and its queue hold.
    for (let sent = 0; counters().droppedQos1 === 0; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => js.client.publishAsync('a', payload, { qos: 1 })))
      await js.take(50)
      expect(sent).toBeLessThan(2_000)
    }
    // Of both clients, until the other has acknowledged everything.
    await expect.poll(() => counters().queuedBytes).toBeLessThanOrEqual(mqttLimits.maxQueuedBytes)
    expect(mute.destroyed).toBe(false)
    mute.destroy()
    await js.client.endAsync()
  })

  it('ends a connection that sends what is no packet, or too long a one, and tells who speaks MQTT 5', async () => {
    const before = counters().protocolErrors
    const garbage = await open()
    garbage.resume()
    garbage.end(Buffer.from('GET / HTTP/1.1\r\n'.padEnd(100)))
    await once(garbage, 'close')
    const js = await connectJs(`mqtt://127.0.0.1:${gateway.port}`, network.apiKey, { protocolVersion: 5 })
    const said = new Promise((resolve) => js.client.on('disconnect', ({ reasonCode }) => resolve(reasonCode)))
    js.client.stream.write(Buffer.from([0x30, 0xff, 0xff, 0xff, 0x7f]))
    expect(await said).toBe(0x95)
    expect(counters().protocolErrors).toBe(before + 2)
    await js.client.endAsync(true)
  })

  it('takes wills and filters from the rate of the key, and serves them later', async () => {
    const url = `mqtt://127.0.0.1:${gateway.port}`
    const will = { topic: 'a', payload: Buffer.from('gone'), qos: 1, retain: false } as const
    const withoutWill = await connectJs(url, rareKey)
    const before = counters().slowed
    while (counters().slowed === before) await (await connectJs(url, rareKey, { will })).client.endAsync()
    const after = counters().slowed
    while (counters().slowed === after) await withoutWill.client.subscribeAsync('a')
    await withoutWill.client.endAsync()
  })

  it('lets a client take its connection over where its key may have no more, and no other client', async () => {
    const url = `mqtt://127.0.0.1:${gateway.port}`
    const as = (clientId: string) => connectJs(url, singleKey, { clientId, protocolVersion: 5 })
    const { client: lost } = await as('device')
    const said = new Promise((resolve) => lost.on('disconnect', ({ reasonCode }) => resolve(reasonCode)))
    const { client: back } = await as('device')
    expect(await said).toBe(Reason.takenOver)
    await expect(as('other')).rejects.toMatchObject({ code: Reason.quotaExceeded })
    await back.endAsync()
  })

  it('has so many connections of one address', async () => {
    for (let i = 0; i < 4; i++) await open(hello(`c${i}`))
    const before = counters().refusedConnections
    const fifth = await open()
    fifth.resume()
    await once(fifth, 'close')
    expect(counters().refusedConnections).toBe(before + 1)
  })
})
