import type { Clock } from '@runnel/protocol'
import type { TlsFiles } from '../../cli/tls-files.ts'
import type { Logger } from '../../logger.ts'
import type { GatewayAccess } from '../access/access.ts'
import type { Serving } from '../serving.ts'
import { metricsOf, newCounters } from './counters.ts'
import { MqttGateway } from './gateway.ts'
import { SessionFile } from './keeping/session-file.ts'
import { SessionKeeper } from './keeping/session-keeper.ts'
import { mqttLimits } from './limits.ts'
import { Listeners, type ListeningPorts } from './listeners.ts'

export interface MqttServingOptions {
  readonly host: string
  /** Plain TCP; undefined: not. */
  readonly port: number | undefined
  /** TLS, if there are files for it. */
  readonly tlsPort: number
  readonly tls: TlsFiles | undefined
  /** Undefined: no WebSocket. */
  readonly websocketPort: number | undefined
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly waitsForStorage: boolean
  /** Where sessions are kept. */
  readonly directory: string
}

export interface MqttServingModules {
  readonly access: GatewayAccess
  readonly clock: Clock
  readonly logger: Logger
}

/** Serves MQTT clients. Apart from the plugin, so that nodes without it do not load it. Throws what opening the file of sessions throws. */
export function createMqttServing(
  options: MqttServingOptions,
  modules: MqttServingModules,
): Serving<ListeningPorts> {
  const { host, port, websocketPort, tls, maxConnections, maxConnectionsPerAddress } = options
  const counters = newCounters()
  const sessions = SessionFile.open(options.directory)
  const keeper = new SessionKeeper(mqttLimits, { file: sessions, counters, ...modules })
  const settings = { maxConnections, waitsForStorage: options.waitsForStorage }
  const gateway = new MqttGateway(settings, mqttLimits, { ...modules, counters, keeper })
  const tlsPort = tls && options.tlsPort
  const listeners = new Listeners(
    { host, port, tlsPort, websocketPort, tls, maxConnections, maxConnectionsPerAddress },
    mqttLimits,
    { accept: (stream, peer) => gateway.accept(stream, peer), refused: () => gateway.refused() },
  )
  return {
    start: () => {
      gateway.start()
      return listeners.start()
    },
    stop: () => {
      gateway.stop()
      return listeners.stop()
    },
    status: () => ({ ...gateway.gauges, ...gateway.counters }),
    metrics: () => metricsOf(gateway.counters, gateway.gauges),
  }
}
