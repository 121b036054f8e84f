import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ChildCalls } from '../../child-calls.ts'
import { startMosquitto } from '../../mqtt/servers.ts'
import { usageOf } from '../../../../packages/node/src/up/process-stat.ts'
import { drive } from '../driver.ts'
import { installed } from '../installed.ts'
import { contentOf, numberOf } from '../system.ts'
import type { AedesCalls } from './aedes-child.ts'

/** What is used of MQTT.js; it is installed apart, so its types are not there. */
interface Client {
  subscribeAsync(topic: string, options: { readonly qos: number }): Promise<unknown>
  publish(topic: string, content: Buffer, options: { readonly qos: number }): void
  on(event: 'message', listener: (topic: string, content: Buffer) => void): void
  endAsync(force: boolean): Promise<void>
}
interface MqttPackage {
  connectAsync(url: string): Promise<Client>
}
interface Broker {
  readonly port: number
  cpuUs(): number
  stop(): Promise<void>
}

const topic = 'bench'

/** A broker in a process of its own, and clients of MQTT.js in this one. */
drive(async ({ nodes, directory, variant }, onDelivery) => {
  const { connectAsync } = await installed<MqttPackage>(directory, 'mqtt')
  const qos = variant['qos'] as number
  const broker = variant['broker'] === 'aedes' ? await startAedes(directory) : await mosquitto()
  const dial = () => connectAsync(`mqtt://127.0.0.1:${broker.port}`)
  const join = async (onMessage: (number: number) => void): Promise<Client> => {
    const client = await dial()
    client.on('message', (_, content) => onMessage(numberOf(content)))
    await client.subscribeAsync(topic, { qos })
    return client
  }
  const publisher = await dial()
  const clients = await Promise.all(Array.from({ length: nodes - 1 }, () => join(onDelivery)))
  return {
    publish(first, count) {
      for (let number = first; number < first + count; number++)
        publisher.publish(topic, Buffer.from(contentOf(number)), { qos })
    },
    serverCpuUs: () => broker.cpuUs(),
    async join(onMessage) {
      const client = await join(onMessage)
      return () => client.endAsync(true)
    },
    async stop() {
      await Promise.all([publisher, ...clients].map((client) => client.endAsync(true)))
      await broker.stop()
    },
  }
})

async function mosquitto(): Promise<Broker> {
  const { port, pid, stop } = await startMosquitto()
  const endIt = () => process.kill(pid)
  process.once('exit', endIt)
  return {
    port,
    cpuUs: () => 1_000 * usageOf(pid).cpuMs,
    stop: () => {
      process.off('exit', endIt)
      return stop()
    },
  }
}

async function startAedes(directory: string): Promise<Broker> {
  const file = fileURLToPath(new URL('aedes-child.ts', import.meta.url))
  const child = fork(file, { execArgv: ['--conditions=runnel-src'] })
  const calls = new ChildCalls<AedesCalls>(child)
  const port = await calls.call('start', directory)
  const { pid } = child
  if (pid === undefined) throw new Error('aedes did not start')
  return { port, cpuUs: () => 1_000 * usageOf(pid).cpuMs, stop: () => calls.stop() }
}
