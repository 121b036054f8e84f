import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from '@runnel/transport'
import { usageOf } from '../../../../packages/node/src/up/process-stat.ts'
import { drive } from '../driver.ts'
import { installed } from '../installed.ts'
import { contentOf, numberOf } from '../system.ts'

/** What is used of the client of NATS; it is installed apart, so its types are not there. */
interface Connection {
  subscribe(
    subject: string,
    options: { callback(error: Error | null, message: { readonly data: Uint8Array }): void },
  ): void
  publish(subject: string, content: Uint8Array): void
  flush(): Promise<void>
  close(): Promise<void>
}
interface NatsPackage {
  connect(options: {
    readonly servers: string
    readonly waitOnFirstConnect: boolean
    readonly reconnectTimeWait: number
  }): Promise<Connection>
}

const subject = 'bench'

/** One server in a process of its own, and clients in this one. */
drive(async ({ nodes, directory }, onDelivery) => {
  const { connect } = await installed<NatsPackage>(directory, '@nats-io/transport-node')
  const port = await freePort()
  const server = spawn(
    join(directory, 'python', 'bin', 'nats-server'),
    ['-a', '127.0.0.1', '-p', `${port}`],
    {
      stdio: 'ignore',
    },
  )
  process.once('exit', () => server.kill())
  const { pid } = server
  if (pid === undefined) throw new Error('nats-server did not start')
  const dial = () =>
    connect({ servers: `127.0.0.1:${port}`, waitOnFirstConnect: true, reconnectTimeWait: 50 })
  const publisher = await dial()
  const newSubscriber = async (onMessage: (number: number) => void): Promise<Connection> => {
    const client = await dial()
    client.subscribe(subject, { callback: (_, { data }) => onMessage(numberOf(data)) })
    await client.flush()
    return client
  }
  const clients = await Promise.all(Array.from({ length: nodes - 1 }, () => newSubscriber(onDelivery)))
  return {
    publish(from, count) {
      for (let number = from; number < from + count; number++) publisher.publish(subject, contentOf(number))
    },
    serverCpuUs: () => 1_000 * usageOf(pid).cpuMs,
    async join(onMessage) {
      const client = await newSubscriber(onMessage)
      return () => client.close()
    },
    async stop() {
      await Promise.all([...clients, publisher].map((client) => client.close()))
      const ended = once(server, 'exit')
      server.kill()
      await ended
    },
  }
})
