import type { Logger } from '../logger.ts'
import type { PluginStatuses } from '../snapshot.ts'
import { httpPlugin } from './http/http-plugin.ts'
import type { Plugin, PluginContext, PluginDefinition } from './plugin.ts'

/** A plugin to be, and its checked settings. */
export interface ConfiguredPlugin {
  readonly definition: PluginDefinition
  readonly options: unknown
}

/** Makes the plugins that are not switched off. Throws what their `create` throws. */
export function createPlugins(configured: readonly ConfiguredPlugin[]): Plugins {
  const isLast = ({ definition }: ConfiguredPlugin) => definition.name === httpPlugin.name
  // HTTP serves the routes of the others, and answers once all of them work.
  const inOrder = configured.toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)))
  const enabled = inOrder.filter(({ options }) => !isDisabled(options))
  return new Plugins(
    new Map(enabled.map(({ definition, options }) => [definition.name, definition.create(options)])),
  )
}

function isDisabled(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'enabled' in options && options.enabled === false
}

/** The plugins of one broker node: started one after the other, and stopped in reverse. */
export class Plugins {
  readonly #plugins: ReadonlyMap<string, Plugin>

  constructor(plugins: ReadonlyMap<string, Plugin>) {
    this.#plugins = plugins
  }

  /** The plugin of this definition; undefined when it is switched off. */
  of<Instance extends Plugin>(definition: PluginDefinition<unknown, Instance>): Instance | undefined {
    // Names are unique, and what stands under this one was made by this definition.
    return this.#plugins.get(definition.name) as Instance | undefined
  }

  statuses(): PluginStatuses {
    const statuses = [...this.#plugins].map(([name, plugin]) => [name, plugin.status?.()] as const)
    return Object.fromEntries(statuses.filter(([, status]) => status !== undefined))
  }

  async start(modules: Omit<PluginContext, 'started'>): Promise<void> {
    const started = new Map<string, Plugin>()
    for (const [name, plugin] of this.#plugins) {
      await plugin.start({ ...modules, started })
      started.set(name, plugin)
    }
  }

  /** Never rejects: a plugin that fails to stop is logged. */
  async stop(logger: Logger): Promise<void> {
    for (const [name, plugin] of [...this.#plugins].toReversed()) {
      await plugin
        .stop()
        .catch((error: unknown) => logger.error({ err: error, plugin: name }, 'plugin failed to stop'))
    }
  }
}
