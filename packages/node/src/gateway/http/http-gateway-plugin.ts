import { systemClock } from '@runnel/protocol/system'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { readTls, tlsPair } from '../../cli/tls-files.ts'
import { file, host, port } from '../../config/fields.ts'
import type { Plugin, PluginDefinition } from '../../plugins/plugin.ts'
import { perAddressSetting } from '../access/settings.ts'
import { requireGatewayAccess } from '../gateway-plugin.ts'
import { createGateway, type Gateway } from '../gateway.ts'
import { GatewayWebSockets } from '../websocket/websocket-server.ts'
import { buildHttpGateway } from './http-gateway.ts'

const schema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether programs can publish and read over HTTP, with keys from gateway.keysFile (docs/guides/gateways.md).',
      ),
    host: host('The HTTP gateway'),
    port: port('The HTTP gateway', 7174),
    certFile: file().optional().describe('TLS certificate, PEM; makes it an https server.'),
    keyFile: file().optional().describe('Private key of the TLS certificate, PEM.'),
    clientCertificates: z
      .boolean()
      .default(false)
      .describe(
        'Whether clients can present a certificate instead of a key, as listed in gateway.keysFile. Needs TLS.',
      ),
    corsOrigins: z
      .array(z.string().min(1))
      .max(64)
      .default([])
      .describe(
        'Origins whose pages may use it, such as https://app.example. * allows all; they then need keys, not certificates.',
      ),
    maxConnectionsPerAddress: perAddressSetting(),
    webSocket: z.boolean().default(false).describe('Whether it also serves WebSockets, at /v1/ws.'),
  })
  .prefault({})
  .refine(...tlsPair)
  .refine(
    ({ certFile, clientCertificates }) => certFile !== undefined || !clientCertificates,
    'clientCertificates needs certFile',
  )

type HttpGatewayConfig = z.output<typeof schema>

export interface HttpGatewayPlugin extends Plugin {
  /** Where it answers; undefined before the start. */
  readonly url: string | undefined
}

/** Lets programs publish and read over HTTP. */
export const httpGatewayPlugin = {
  name: 'httpGateway',
  schema,
  create: createHttpGatewayPlugin,
} as const satisfies PluginDefinition<HttpGatewayConfig, HttpGatewayPlugin>

function createHttpGatewayPlugin(config: HttpGatewayConfig): HttpGatewayPlugin {
  const { host, port, clientCertificates, corsOrigins, webSocket, maxConnectionsPerAddress } = config
  const tls = readTls(config)
  let gateway: Gateway | undefined
  let server: FastifyInstance | undefined
  let webSockets: GatewayWebSockets | undefined
  let url: string | undefined
  let stopFollowing = () => {}
  return {
    start: async (context) => {
      gateway = createGateway(requireGatewayAccess(context), systemClock)
      stopFollowing = gateway.callers.start()
      server = buildHttpGateway({ tls, clientCertificates, corsOrigins, maxConnectionsPerAddress }, gateway)
      if (webSocket) {
        const sockets = (webSockets = new GatewayWebSockets(gateway, corsOrigins))
        server.server.on('upgrade', (...args) => void sockets.upgrade(...args))
      }
      url = await server.listen({ host, port })
      context.logger.info({ url }, 'the HTTP gateway answers')
    },
    stop: async () => {
      stopFollowing()
      webSockets?.stop()
      gateway?.callers.endAll()
      await server?.close()
    },
    get url() {
      return url
    },
    status: () => gateway && { url, ...gateway.counts.status(gateway.callers.readers) },
    metrics: () => gateway?.counts.metrics(gateway.callers.readers) ?? [],
  }
}
