import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '@runnel/transport'
import { startRunnel, stopAll, type RunningCommand } from '../../cli.testkit.ts'
import { MqttNetwork } from './mqtt-network.testkit.ts'
import { connectJs } from './mqttjs.testkit.ts'

const count = 300

describe('a gateway that is killed', { timeout: 120_000 }, () => {
  const network = new MqttNetwork()
  let other: number

  beforeAll(async () => {
    await network.start([{ path: 'kept', isStored: true }])
    await network.storageNode()
    other = (await network.gateway()).port
  })
  afterAll(async () => {
    await stopAll()
    await network.stop()
  })

  /** In a process of its own. */
  async function startGateway(port: number): Promise<RunningCommand> {
    const file = join(network.directory, 'gateway.json')
    writeFileSync(file, JSON.stringify(network.config({ logLevel: 'info', mqtt: { port } })))
    const gateway = startRunnel(['node', '--config', file])
    await gateway.said('the node is running')
    return gateway
  }

  it('loses nothing that it acknowledged, and is sent the rest again: here or elsewhere', async () => {
    const port = await freePort()
    const gateway = await startGateway(port)
    const subscriber = await connectJs(`mqtt://127.0.0.1:${other}`, network.apiKey)
    await subscriber.client.subscribeAsync('kept', { qos: 1 })
    const url = `mqtt://127.0.0.1:${port}`
    const publisher = await connectJs(url, network.apiKey, {
      clientId: 'publisher',
      clean: false,
      reconnectPeriod: 50,
    })
    const sent: Promise<unknown>[] = []
    const publish = (from: number, to: number) => {
      for (let i = from; i < to; i++) sent.push(publisher.client.publishAsync('kept', `${i}`, { qos: 1 }))
    }
    publish(0, count / 2)
    // Some are acknowledged, and others are not.
    await sent[20]
    gateway.process.kill('SIGKILL')
    await gateway.ended
    publish(count / 2, count)
    await startGateway(port)
    await Promise.all(sent)
    await publisher.client.endAsync()
    const heard = new Set<string>()
    while (heard.size < count) for (const text of await subscriber.texts(1)) heard.add(text)
    expect(heard.size).toBe(count)
    await subscriber.client.endAsync()
  })
})
