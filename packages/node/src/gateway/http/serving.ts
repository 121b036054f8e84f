import type { Gateway } from '../gateway.ts'
import { GatewayWebSockets } from '../websocket/websocket-server.ts'
import type { Serving } from '../serving.ts'
import { buildHttpGateway, type HttpGatewayOptions } from './http-gateway.ts'

export interface HttpServingOptions extends HttpGatewayOptions {
  readonly host: string
  readonly port: number
  /** Whether it also serves WebSockets. */
  readonly webSocket: boolean
}

/** Serves programs over HTTP and WebSocket; it resolves to its URL. */
export function createHttpServing(options: HttpServingOptions, gateway: Gateway): Serving<string> {
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
