import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../packages/node/src/config/settings.ts'
import { tracker } from '../packages/node/src/commands/tracker.ts'
import { metricsPage } from './metrics-page.ts'

const folder = fileURLToPath(new URL('../deploy', import.meta.url))
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const namesIn = (text: string) => new Set(text.match(/\brunnel_[a-z_]+[a-z]\b/g))

describe('deploy', () => {
  it.each(['prometheus/alerts.yaml', 'grafana/runnel.json'])(
    '%s asks for metrics that are served',
    async (file) => {
      const served = namesIn(await metricsPage())
      // Of a regular expression only what is a whole name.
      const asked = [...namesIn(read(file).replace(/__name__=~"[^"]*"/g, ''))]
      expect(asked.length).toBeGreaterThan(5)
      expect(asked.filter((name) => !served.has(name))).toEqual([])
    },
  )

  it('has a dashboard whose panels do not overlap', () => {
    const { panels } = JSON.parse(read('grafana/runnel.json')) as {
      panels: { id: number; gridPos: { x: number; y: number } }[]
    }
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  })

  it('gives the program flags that it has', () => {
    const known = new Set([...settings.map(({ flag }) => flag), ...Object.keys(tracker.options), 'config'])
    const units = ['systemd/runnel-node.service', 'systemd/runnel-tracker.service']
    const commands = ['compose.yaml', 'compose.network.yaml', ...units].map((file) =>
      // That of Prometheus has others, and so do other commands.
      read(file).replace(/^ +- --(config\.file|storage\.tsdb|web)\..*$|^ +runnel .*$/gm, ''),
    )
    const flags = [...commands.join('\n').matchAll(/(?<=[\s=])--([a-z-]+)/g)].map((match) => match[1] ?? '')
    expect(flags.length).toBeGreaterThan(10)
    expect(flags.filter((flag) => !known.has(flag))).toEqual([])
  })

  // Grafana itself is not to be had where the tests run.
  it('gives Grafana its data source and dashboard where it looks for them', () => {
    const { services } = parse(read('compose.network.yaml'), { merge: true }) as {
      services: Record<string, { volumes: string[]; environment: Record<string, string>; command: string[] }>
    }
    const { grafana, prometheus } = services
    const mounts = new Map(
      grafana?.volumes.map((text) => {
        const [source = '', target = ''] = text.split(':')
        return [target, source]
      }),
    )
    expect([...mounts.values()].every((source) => existsSync(join(folder, source)))).toBe(true)
    expect(mounts.get('/etc/grafana/provisioning')).toBe('./grafana/provisioning')

    const { providers } = parse(read('grafana/provisioning/dashboards/runnel.yaml')) as {
      providers: { type: string; options: { path: string } }[]
    }
    expect(providers.map(({ type }) => type)).toEqual(['file'])
    const dashboard = `${providers[0]?.options.path}/runnel.json`
    expect(mounts.get(dashboard)).toBe('./grafana/runnel.json')
    expect(grafana?.environment['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']).toBe(dashboard)

    const { datasources } = parse(read('grafana/provisioning/datasources/prometheus.yaml')) as {
      datasources: { type: string; url: string; isDefault: boolean }[]
    }
    const listens = prometheus?.command.find((word) => word.startsWith('--web.listen-address='))
    expect(datasources).toMatchObject([{ type: 'prometheus', access: 'proxy', isDefault: true }])
    expect(listens?.split(':').at(-1)).toBe(new URL(datasources[0]?.url ?? '').port)
  })

  it('publishes ports of the network to this machine only', () => {
    const { services } = parse(read('compose.network.yaml'), { merge: true }) as {
      services: Record<string, { ports?: string[] }>
    }
    const ports = Object.values(services).flatMap((service) => service.ports ?? [])
    expect(ports.length).toBe(10)
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  })

  it('copies every package into the image that the program needs', () => {
    const copied = /for name in ([a-z ]+);/.exec(read('Dockerfile'))?.[1]?.split(' ') ?? []
    const needed = new Set(['node'])
    for (const name of needed) {
      const manifest = readFileSync(join(folder, '../packages', name, 'package.json'), 'utf8')
      const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> }
      for (const dependency of Object.keys(dependencies)) {
        const own = /^@runnel\/(?!contracts$)(.+)/.exec(dependency)?.[1]
        if (own !== undefined) needed.add(own)
      }
    }
    expect(copied.toSorted()).toEqual([...needed].toSorted())
  })
})
