import { systemClock } from '@runnel/protocol/system'
import { z } from 'zod'
import { readTls, tlsPair } from '../../cli/tls-files.ts'
import { file, host, port } from '../../config/fields.ts'
import type { Plugin, PluginDefinition } from '../../plugins/plugin.ts'
import { perAddressSetting } from '../access/settings.ts'
import { requireGatewayAccess } from '../gateway-plugin.ts'
import type { Serving } from '../serving.ts'

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
  const tls = readTls(config)
  let serving: Serving<string> | undefined
  let url: string | undefined
  return {
    start: async (context) => {
      const access = requireGatewayAccess(context)
      // Most nodes are no gateway.
      const [{ createGateway }, { createHttpServing }] = await Promise.all([
        import('../gateway.ts'),
        import('./serving.ts'),
      ])
      serving = createHttpServing({ ...config, tls }, createGateway(access, systemClock))
      url = await serving.start()
      context.logger.info({ url }, 'the HTTP gateway answers')
    },
    stop: async () => serving?.stop(),
    get url() {
      return url
    },
    status: () => serving && { url, ...serving.status() },
    metrics: () => serving?.metrics() ?? [],
  }
}
