import { z } from 'zod'
import { file, host, port } from '../config/fields.ts'
import type { Plugin, PluginDefinition } from '../plugins/plugin.ts'
import { defaultControlPort } from './control-options.ts'
import type { ControlServer } from './control-server.ts'
import type { NodeControl } from './node-control.ts'

const schema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'Whether this node accepts commands over HTTP, for experiments: ping, join, publish, stop (docs/control.md). It then also reports how old messages are.',
      ),
    socket: file().optional().describe('Unix socket the control API listens on, instead of host and port.'),
    host: host('The control API'),
    port: port('The control API', defaultControlPort),
    tokenFile: file()
      .optional()
      .describe('File with the token that commands must send. Required unless host is a loopback address.'),
  })
  .prefault({})

type ControlConfig = z.output<typeof schema>

export interface ControlPlugin extends Plugin {
  /** Where it answers; undefined before the start. */
  readonly url: string | undefined
}

/** A node that obeys commands by HTTP, for experiments: docs/control.md. */
export const controlPlugin = {
  name: 'control',
  schema,
  create: createControlPlugin,
} as const satisfies PluginDefinition<ControlConfig, ControlPlugin>

function createControlPlugin(options: ControlConfig): ControlPlugin {
  let server: ControlServer | undefined
  let control: NodeControl | undefined
  return {
    start: async ({ client, logger }) => {
      // Only experiments need it.
      const [{ NodeControl }, { createControlServer }, { addCommonRoutes }] = await Promise.all([
        import('./node-control.ts'),
        import('./control-server.ts'),
        import('./common-routes.ts'),
      ])
      const started = (control = new NodeControl({ client, logger }))
      started.start()
      server = createControlServer(options, (routes) => {
        addCommonRoutes(routes, () => started.info())
        started.addRoutes(routes)
      })
      await server.start()
    },
    stop: async () => {
      await server?.stop()
      await control?.stop()
    },
    get url() {
      return server?.url
    },
  }
}
