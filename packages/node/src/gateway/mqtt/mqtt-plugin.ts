import { systemClock } from '@runnel/protocol/system'
import { z } from 'zod'
import { readTls, tlsPair } from '../../cli/tls-files.ts'
import { file, host, port } from '../../config/fields.ts'
import { perAddressSetting } from '../access/settings.ts'
import { requireGatewayAccess } from '../gateway-plugin.ts'
import type { Plugin, PluginDefinition } from '../../plugins/plugin.ts'
import { metricsOf, newCounters, noGauges } from './counters.ts'
import { MqttGateway } from './gateway.ts'
import { SessionFile } from './keeping/session-file.ts'
import { SessionKeeper } from './keeping/session-keeper.ts'
import { mqttLimits } from './limits.ts'
import { Listeners, type ListeningPorts } from './listeners.ts'

const schema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe('Whether MQTT clients can publish and subscribe here. Needs gateway.keysFile.'),
    host: host('The MQTT server'),
    port: port('The MQTT server', 1883),
    plain: z.boolean().default(true).describe('Whether it listens on that port, without TLS.'),
    tlsPort: port('The MQTT server with TLS', 8883),
    certFile: file()
      .optional()
      .describe('TLS certificate, PEM. With it, the MQTT server listens on tlsPort.'),
    keyFile: file().optional().describe('Private key of the TLS certificate, PEM.'),
    websocketPort: z
      .int()
      .min(0)
      .max(65_535)
      .optional()
      .describe('Port for MQTT over WebSocket, with TLS if there is a certificate; 0 takes a free port.'),
    acknowledge: z
      .enum(['auto', 'sent'])
      .default('auto')
      .describe(
        'When QoS 1 messages are acknowledged. auto: once a storage node has them, if the stream has one. sent, and auto without storage: once they are handed to the neighbours.',
      ),
    directory: file()
      .default('mqtt-sessions')
      .describe(
        'Directory of the file that keeps MQTT sessions and their waiting messages across restarts. Only this user can read it.',
      ),
    maxConnections: z
      .int()
      .min(1)
      .max(100_000)
      .default(10_000)
      .describe('Maximum number of MQTT connections at once.'),
    maxConnectionsPerAddress: perAddressSetting(),
  })
  .prefault({})
  .refine(...tlsPair)

type MqttConfig = z.output<typeof schema>

export interface MqttPlugin extends Plugin {
  /** Where it listens; undefined before the start. */
  readonly ports: ListeningPorts | undefined
}

/** Serves MQTT 3.1.1 and 5: topics are streams. */
export const mqttPlugin = {
  name: 'mqtt',
  schema,
  create: createMqttPlugin,
} as const satisfies PluginDefinition<MqttConfig, MqttPlugin>

function createMqttPlugin(config: MqttConfig): MqttPlugin {
  const { host, plain, websocketPort, maxConnections, maxConnectionsPerAddress } = config
  const tls = readTls(config)
  const settings = { maxConnections, waitsForStorage: config.acknowledge === 'auto' }
  let running: { readonly gateway: MqttGateway; readonly listeners: Listeners } | undefined
  let ports: ListeningPorts | undefined
  return {
    start: async (context) => {
      const { logger } = context
      const access = requireGatewayAccess(context)
      const counters = newCounters()
      const clock = systemClock
      const sessions = SessionFile.open(config.directory)
      const keeper = new SessionKeeper(mqttLimits, { file: sessions, clock, logger, counters })
      const gateway = new MqttGateway(settings, mqttLimits, { access, clock, logger, counters, keeper })
      const listeners = new Listeners(
        {
          ...{ host, websocketPort, tls, maxConnections, maxConnectionsPerAddress },
          port: plain ? config.port : undefined,
          tlsPort: tls && config.tlsPort,
        },
        mqttLimits,
        { accept: (stream, peer) => gateway.accept(stream, peer), refused: () => gateway.refused() },
      )
      running = { gateway, listeners }
      gateway.start()
      ports = await listeners.start()
      logger.info({ host, ...ports }, 'MQTT clients can connect')
    },
    stop: async () => {
      running?.gateway.stop()
      await running?.listeners.stop()
    },
    status: () => running && { ports, ...running.gateway.gauges, ...running.gateway.counters },
    metrics: () => metricsOf(running?.gateway.counters ?? newCounters(), running?.gateway.gauges ?? noGauges),
    get ports() {
      return ports
    },
  }
}
