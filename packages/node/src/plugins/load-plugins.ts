import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { resolve } from 'import-meta-resolve'
import { nodeError } from '../errors.ts'
import { builtInPlugins } from './built-in.ts'
import type { PluginDefinition, SettingIssue } from './plugin.ts'
import type { ConfiguredPlugin } from './plugins.ts'

/** It becomes part of the names of metrics and of the status. */
const namePattern = /^[a-z][A-Za-z0-9]*$/

/**
 * Loads the packages of the setting `plugins` and checks their settings. Packages are looked for from the directory, then
 * from where Runnel is installed. Throws PLUGIN_NOT_FOUND, PLUGIN_INVALID, or CONFIG_INVALID, which names the setting.
 */
export async function loadPlugins(
  packages: Readonly<Record<string, unknown>>,
  directory: string,
): Promise<ConfiguredPlugin[]> {
  const loaded: ConfiguredPlugin[] = []
  const taken = new Set<string>(Object.keys(builtInPlugins))
  for (const [packageName, settings] of Object.entries(packages)) {
    const definition = await load(packageName, directory)
    if (taken.has(definition.name))
      throw nodeError('PLUGIN_INVALID', `${packageName}: there is a plugin "${definition.name}" already`)
    taken.add(definition.name)
    loaded.push({ definition, options: checkSettings(packageName, definition, settings) })
  }
  return loaded
}

async function load(packageName: string, directory: string): Promise<PluginDefinition> {
  const url = find(packageName, [pathToFileURL(join(directory, 'here')).href, import.meta.url])
  if (url === undefined) throw nodeError('PLUGIN_NOT_FOUND', `${packageName}, looked for from ${directory}`)
  let exported: unknown
  try {
    exported = ((await import(url)) as { readonly default?: unknown }).default
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw nodeError('PLUGIN_INVALID', `${packageName} cannot be loaded: ${reason}`, { cause })
  }
  if (isDefinition(exported)) return exported
  throw nodeError('PLUGIN_INVALID', `${packageName} has no default export { name, schema, create }`)
}

/** The module that a package is, seen from the first of these places where there is one. */
function find(packageName: string, places: readonly string[]): string | undefined {
  for (const place of places) {
    try {
      return resolve(packageName, place)
    } catch {
      // Not from there.
    }
  }
  return undefined
}

function isDefinition(value: unknown): value is PluginDefinition {
  if (typeof value !== 'object' || value === null) return false
  const { name, schema, create } = value as Readonly<Record<keyof PluginDefinition, unknown>>
  const canCheck =
    typeof schema === 'object' &&
    schema !== null &&
    'safeParse' in schema &&
    typeof schema.safeParse === 'function'
  return typeof name === 'string' && namePattern.test(name) && canCheck && typeof create === 'function'
}

function checkSettings(packageName: string, { schema }: PluginDefinition, settings: unknown): unknown {
  const result = schema.safeParse(settings)
  if (result.success) return result.data
  const describe = ({ path, message }: SettingIssue) =>
    `${['plugins', packageName, ...path].map(String).join('.')}: ${message}`
  throw nodeError('CONFIG_INVALID', result.error.issues.map(describe).join('; '))
}
