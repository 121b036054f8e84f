import { systemClock } from '@runnel/protocol/system'
import { z } from 'zod'
import { readTls, tlsPair } from '../../cli/tls-files.ts'
import { file, host, port } from '../../config/fields.ts'
import { perAddressSetting } from '../access/settings.ts'
import { requireGatewayAccess } from '../gateway-plugin.ts'
import type { Plugin, PluginDefinition } from '../../plugins/plugin.ts'
import { metricsOf, newCounters, noGauges } from './counters.ts'
import type { ListeningPorts } from './listeners.ts'
import type { Serving } from '../serving.ts'

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
  const { plain, acknowledge } = config
  const tls = readTls(config)
  const port = plain ? config.port : undefined
  let serving: Serving<ListeningPorts> | undefined
  let ports: ListeningPorts | undefined
  return {
    start: async (context) => {
      const { logger } = context
      const access = requireGatewayAccess(context)
      // Most nodes are no gateway.
      const { createMqttServing } = await import('./serving.ts')
      serving = createMqttServing(
        {
          ...config,
          port,
          tls,
          websocketPort: config.websocketPort,
          waitsForStorage: acknowledge === 'auto',
        },
        { access, clock: systemClock, logger },
      )
      ports = await serving.start()
      logger.info({ host: config.host, ...ports }, 'MQTT clients can connect')
    },
    stop: async () => serving?.stop(),
    status: () => serving && { ports, ...serving.status() },
    metrics: () => serving?.metrics() ?? metricsOf(newCounters(), noGauges),
    get ports() {
      return ports
    },
  }
}
