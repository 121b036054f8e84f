import { parseConfig, startBroker, type Broker, type BrokerConfigInput } from '@runnel/node'
import { answerCalls } from '../child-calls.ts'
import { cpuUs } from '../statistics.ts'

const brokers: Broker[] = []

const calls = {
  /** Starts a broker in this process; resolves to the port of its MQTT gateway, if it has one. */
  async start(config: BrokerConfigInput): Promise<number | undefined> {
    const broker = await startBroker(parseConfig(config), { env: {} })
    brokers.push(broker)
    const status = broker.snapshot().plugins['mqtt'] as { ports: { port: number } } | undefined
    return status?.ports.port
  },
  /** Resolves when each broker here has a neighbour in some stream part. */
  async settled(): Promise<void> {
    for (const { client } of brokers)
      for (const id of client.network.streamParts) await client.network.waitForNeighbours(id)
  },
  usage(): { cpuMs: number; rssBytes: number } {
    return { cpuMs: cpuUs() / 1_000, rssBytes: process.memoryUsage.rss() }
  },
  /** What the gateways dropped and refused so far. */
  losses(): number {
    const counters = brokers.map(
      ({ snapshot }) => snapshot().plugins['mqtt'] as Record<string, number> | undefined,
    )
    return counters.reduce(
      (sum, one) =>
        sum + (one?.['droppedQos0'] ?? 0) + (one?.['publishRefused'] ?? 0) + (one?.['faults'] ?? 0),
      0,
    )
  },
  async stop(): Promise<void> {
    await Promise.all(brokers.splice(0).map((broker) => broker.stop()))
  },
}

export type BrokerCalls = typeof calls
answerCalls(calls)
