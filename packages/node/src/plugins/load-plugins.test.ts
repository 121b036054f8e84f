import { describe, expect, it } from 'vitest'
import { loadPlugins } from './load-plugins.ts'
import { directoryWithPackages, gaugePlugin } from './packages.testkit.ts'

const directory = directoryWithPackages({
  '@acme/runnel-gauge': gaugePlugin,
  'another-gauge': gaugePlugin,
  'a-storage': gaugePlugin.replace("name: 'gauge'", "name: 'storage'"),
  'badly-named': gaugePlugin.replace("name: 'gauge'", "name: '__proto__'"),
  'no-plugin': 'export const gauge = 1',
  broken: 'throw new Error("no such luck")',
})
const load = (packages: Record<string, unknown>) => loadPlugins(packages, directory)

describe('loadPlugins', () => {
  it('loads a package from the directory, and has it check its settings', async () => {
    const [gauge, ...others] = await load({ '@acme/runnel-gauge': { start: 3 } })
    expect(gauge?.definition.name).toBe('gauge')
    expect(gauge?.options).toEqual({ start: 3, endFile: undefined })
    expect(others).toEqual([])
  })

  it.each([
    ['gone', 'PLUGIN_NOT_FOUND', `gone, looked for from ${directory}`],
    ['no-plugin', 'PLUGIN_INVALID', 'no-plugin has no default export { name, schema, create }'],
    ['badly-named', 'PLUGIN_INVALID', 'badly-named has no default export { name, schema, create }'],
    ['broken', 'PLUGIN_INVALID', 'broken cannot be loaded: no such luck'],
    ['a-storage', 'PLUGIN_INVALID', 'a-storage: there is a plugin "storage" already'],
  ])('refuses %s', async (name, code, message) => {
    await expect(load({ [name]: {} })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
    })
  })

  it('refuses two plugins of one name', async () => {
    await expect(load({ '@acme/runnel-gauge': {}, 'another-gauge': {} })).rejects.toMatchObject({
      code: 'PLUGIN_INVALID',
      message: expect.stringContaining('another-gauge: there is a plugin "gauge" already'),
    })
  })

  it('names the setting that a plugin refuses', async () => {
    await expect(load({ '@acme/runnel-gauge': { strat: 3 } })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('plugins.@acme/runnel-gauge.strat: unknown'),
    })
  })
})
