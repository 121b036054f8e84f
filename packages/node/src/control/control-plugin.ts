import type { BrokerConfig } from '../config/schema.ts'
import type { Plugin, PluginContext } from '../plugins/plugin.ts'
import { addCommonRoutes } from './common-routes.ts'
import { createControlServer, type ControlServer } from './control-server.ts'
import { NodeControl } from './node-control.ts'

export interface ControlPlugin extends Plugin {
  /** Where it answers; undefined before the start. */
  readonly url: string | undefined
}

/** A node that obeys commands by HTTP, for experiments: docs/control.md. */
export function createControlPlugin(options: BrokerConfig['control']): ControlPlugin {
  let server: ControlServer | undefined
  let control: NodeControl | undefined
  return {
    name: 'control',
    start: async ({ client, logger }: PluginContext) => {
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
