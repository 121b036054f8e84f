import { storagePlugin } from '@runnel/storage/plugin'
import { controlPlugin } from '../control/control-plugin.ts'
import { gatewayPlugin } from '../gateway/gateway-plugin.ts'
import { httpGatewayPlugin } from '../gateway/http/http-gateway-plugin.ts'
import { httpPlugin } from './http/http-plugin.ts'
import { keysPlugin } from './keys/keys-plugin.ts'
import { measurementsPlugin } from './measurements/measurements-plugin.ts'
import { mqttPlugin } from '../gateway/mqtt/mqtt-plugin.ts'
import { observerPlugin } from './observer/observer-plugin.ts'
import type { PluginDefinition } from './plugin.ts'

/** The plugins that every broker has, by the name of their settings. */
export const builtInPlugins = {
  [httpPlugin.name]: httpPlugin,
  [measurementsPlugin.name]: measurementsPlugin,
  // First of those that join: it asks for what was published before.
  [storagePlugin.name]: storagePlugin,
  [observerPlugin.name]: observerPlugin,
  [keysPlugin.name]: keysPlugin,
  [controlPlugin.name]: controlPlugin,
  // The gateways come after it.
  [gatewayPlugin.name]: gatewayPlugin,
  [httpGatewayPlugin.name]: httpGatewayPlugin,
  [mqttPlugin.name]: mqttPlugin,
} as const satisfies Readonly<Record<string, PluginDefinition>>

type BuiltIn = typeof builtInPlugins

/** The schemas of the built-in plugins, as sections of the broker's configuration. */
export const builtInSchemas = Object.fromEntries(
  Object.values(builtInPlugins).map(({ name, schema }) => [name, schema]),
) as { readonly [Name in keyof BuiltIn]: BuiltIn[Name]['schema'] }
