import type { connect as connectMqtt, MqttClient } from 'mqtt'
import { nodeError } from '../../errors.ts'
import { optionalPackage } from './optional-package.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'

/** MQTT clients at a gateway, with QoS 0. Throws BENCH_PACKAGE_MISSING where MQTT.js is not installed. */
export async function mqttUsers(): Promise<UserFactory> {
  const { connect } = await optionalPackage('mqtt', () => import('mqtt'))
  return {
    leavesOut:
      'being nodes: the gateway floods, verifies and repairs for them, and what is urgent goes as ordinary messages',
    open: (options) => openMqttUser(connect, options),
    stop: () => Promise.resolve(),
  }
}

/** Throws BENCH_GATEWAY_MISSING or BENCH_GATEWAY_REFUSED. */
async function openMqttUser(connect: typeof connectMqtt, options: UserOptions): Promise<BenchUser> {
  const { plan, place, part, onMessage, onError } = options
  if (place.gateway === undefined) throw nodeError('BENCH_GATEWAY_MISSING', 'users of kind mqtt')
  const topic = `${part.streamId}@${part.partition}`
  const client = connect(place.gateway.url, {
    ...{ username: 'bench', password: place.gateway.key, reconnectPeriod: 0, protocolVersion: 5 },
  })
  try {
    await connected(client)
    client.on('message', (_, payload) => onMessage(payload))
    client.on('error', onError)
    if (plan.subscribes) await client.subscribeAsync(topic, { qos: 0 })
  } catch (cause) {
    client.end(true)
    throw nodeError('BENCH_GATEWAY_REFUSED', cause instanceof Error ? cause.message : String(cause), {
      cause,
    })
  }
  return {
    publish: async (content) => {
      await client.publishAsync(topic, Buffer.from(content), { qos: 0 })
    },
    dropped: () => undefined,
    neighbours: () => Promise.resolve(undefined),
    stop: async () => {
      await client.endAsync(true)
    },
  }
}

function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve())
    client.once('error', reject)
    client.once('close', () => reject(new Error('it closed the connection')))
  })
}
