import type { PluginMetric } from '../../plugins/plugin.ts'
import type { Gateway } from '../gateway.ts'
import { GatewayWebSockets } from '../websocket/websocket-server.ts'
import { buildHttpGateway, type HttpGatewayOptions } from './http-gateway.ts'

export interface HttpServingOptions extends HttpGatewayOptions {
  readonly host: string
  readonly port: number
  /** Whether it also serves WebSockets. */
  readonly webSocket: boolean
}

/** Programs being served over HTTP. */
export interface HttpServing {
  /** Resolves to where it answers. */
  start(): Promise<string>
  /** Idempotent; called also when `start` failed. */
  stop(): Promise<void>
  status(): object
  metrics(): readonly PluginMetric[]
}

/** Serves programs over HTTP and WebSocket. */
export function createHttpServing(options: HttpServingOptions, gateway: Gateway): HttpServing {
  const { host, port, corsOrigins } = options
  const { callers, counts } = gateway
  const server = buildHttpGateway(options, gateway)
  const webSockets = options.webSocket ? new GatewayWebSockets(gateway, corsOrigins) : undefined
  if (webSockets) server.server.on('upgrade', (...args) => void webSockets.upgrade(...args))
  let stopFollowing = () => {}
  return {
    start: () => {
      stopFollowing = callers.start()
      return server.listen({ host, port })
    },
    stop: async () => {
      stopFollowing()
      webSockets?.stop()
      callers.endAll()
      await server.close()
    },
    status: () => counts.status(callers.readers),
    metrics: () => counts.metrics(callers.readers),
  }
}
