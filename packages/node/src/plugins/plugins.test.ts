import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config/load-config.ts'
import { startBroker, type Broker } from '../node.ts'
import type { BrokerConfigInput } from '../config/schema.ts'
import { builtInPlugins } from './built-in.ts'
import { httpPlugin } from './http/http-plugin.ts'
import { measurementsPlugin } from './measurements/measurements-plugin.ts'
import { directoryWithPackages, gaugePlugin } from './packages.testkit.ts'

const directory = directoryWithPackages({ 'runnel-gauge': gaugePlugin })
const network = join(directory, 'network.json')
writeFileSync(network, JSON.stringify({ version: 1, trackers: [], streams: [] }))

/** A broker that is alone. Packages are looked for from the directory. */
function start(config: BrokerConfigInput, from = directory): Promise<Broker> {
  const alone = { network, logLevel: 'silent', websocket: { listen: false }, webrtc: { enabled: false } }
  return startBroker(parseConfig({ ...alone, ...config }), { env: {}, directory: from })
}

describe('the plugins of a broker', () => {
  it('have their settings under their names', () => {
    const config = parseConfig({})
    for (const [name, plugin] of Object.entries(builtInPlugins)) {
      expect(plugin.name).toBe(name)
      expect(config).toHaveProperty(name)
    }
  })

  it('are there unless they are switched off', async () => {
    const broker = await start({ http: { enabled: false } })
    expect(broker.plugins.of(httpPlugin)).toBeUndefined()
    expect(broker.plugins.of(measurementsPlugin)).toBeUndefined()
    expect(Object.keys(broker.snapshot().plugins)).toEqual(['observer'])
    await broker.stop()
  })

  it('can come from a package, which has a part in the status, the metrics and what is served', async () => {
    const endFile = join(directory, 'end')
    const broker = await start({ http: { port: 0 }, plugins: { 'runnel-gauge': { start: 5, endFile } } })
    const get = async (path: string) => (await fetch(`${broker.httpUrl}${path}`)).text()
    expect(JSON.parse(await get('/v1/gauge'))).toEqual({ nodeId: broker.nodeId, asked: 6 })
    expect(JSON.parse(await get('/v1/status'))).toMatchObject({ plugins: { gauge: { asked: 6 } } })
    expect(await get('/metrics')).toContain('runnel_gauge_asked_total 6')
    expect(existsSync(endFile)).toBe(false)
    await broker.stop()
    expect(existsSync(endFile)).toBe(true)
  })

  it('from a package can be switched off, too', async () => {
    const off = gaugePlugin.replace('data: { start, endFile }', 'data: { enabled: false }')
    const elsewhere = directoryWithPackages({ 'runnel-gauge': off })
    const broker = await start({ http: { enabled: false }, plugins: { 'runnel-gauge': {} } }, elsewhere)
    expect(broker.snapshot().plugins).not.toHaveProperty('gauge')
    await broker.stop()
  })
})
