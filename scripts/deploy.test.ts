import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
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
    const commands = ['compose.yaml', 'systemd/runnel-node.service', 'systemd/runnel-tracker.service'].map(
      read,
    )
    const flags = [...commands.join('\n').matchAll(/(?<=[\s=])--([a-z-]+)/g)].map((match) => match[1] ?? '')
    expect(flags.length).toBeGreaterThan(10)
    expect(flags.filter((flag) => !known.has(flag))).toEqual([])
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
