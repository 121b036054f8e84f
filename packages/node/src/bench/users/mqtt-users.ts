import type { connect as connectMqtt, MqttClient } from 'mqtt'
import type { RunnelError } from '@runnel/protocol'
import { nodeError } from '../../errors.ts'
import { gatewayRefused, gatewayUnreachable } from './gateway-errors.ts'
import { optionalPackage } from './optional-package.ts'
import type { BenchUser, UserFactory, UserOptions } from './user.ts'

/** Throws BENCH_PACKAGE_MISSING where MQTT.js is not installed. */
export const importMqtt = () => optionalPackage('mqtt', () => import('mqtt'))

/** MQTT clients at a gateway, with QoS 0. Throws BENCH_PACKAGE_MISSING where MQTT.js is not installed. */
export async function mqttUsers(): Promise<UserFactory> {
  const { connect } = await importMqtt()
  return {
    leavesOut:
      'being nodes: the gateway floods, verifies and repairs for them, and what is urgent goes as ordinary messages',
    open: (options) => openMqttUser(connect, options),
    stop: () => Promise.resolve(),
  }
}

/** Throws BENCH_GATEWAY_MISSING, BENCH_GATEWAY_UNREACHABLE or BENCH_GATEWAY_REFUSED. */
async function openMqttUser(connect: typeof connectMqtt, options: UserOptions): Promise<BenchUser> {
  const { plan, place, part, onMessage, onError } = options
  if (place.gateway === undefined) throw nodeError('BENCH_GATEWAY_MISSING', 'users of kind mqtt')
  const { url, key } = place.gateway
  const topic = `${part.streamId}@${part.partition}`
  const client = connect(url, {
    ...{ username: 'bench', password: key, reconnectPeriod: 0, protocolVersion: 5 },
    // Without a connection there will be none again: what waits for one would be told to nobody.
    queueQoSZero: false,
  })
  try {
    await connected(client, url)
    client.on('message', (_, payload) => onMessage(payload))
    client.on('error', onError)
    client.on('close', () => {
      if (!client.disconnecting) onError(gatewayUnreachable(url, 'it closed the connection'))
    })
    if (plan.subscribes)
      await client.subscribeAsync(topic, { qos: 0 }).catch((cause: unknown) => {
        throw gatewayRefused(url, cause)
      })
  } catch (error) {
    client.end(true)
    throw error
  }
  return {
    publish: async (content) => {
      await client.publishAsync(topic, Buffer.from(content), { qos: 0 }).catch((cause: unknown) => {
        throw gatewayUnreachable(url, cause)
      })
    },
    dropped: () => undefined,
    neighbours: () => Promise.resolve(undefined),
    stop: async () => {
      await client.endAsync(true)
    },
  }
}

/** Throws BENCH_GATEWAY_UNREACHABLE or BENCH_GATEWAY_REFUSED. */
function connected(client: MqttClient, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('connect', () => resolve())
    client.on('error', (error) => reject(connectError(url, error)))
    client.once('close', () => reject(gatewayUnreachable(url, 'it closed the connection')))
  })
}

/** A gateway that refuses gives a number, the system a name; what is no MQTT gives neither. */
function connectError(url: string, error: Error): RunnelError {
  const code = 'code' in error ? error.code : undefined
  if (typeof code === 'number') return gatewayRefused(url, error)
  return gatewayUnreachable(url, code === undefined ? `it does not speak MQTT (${error.message})` : error)
}
