import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A plugin as a package from elsewhere has it, in plain JavaScript: it counts how often it was asked, and writes down its end. */
export const gaugePlugin = `
import { writeFileSync } from 'node:fs'

const schema = {
  safeParse({ start = 0, endFile, ...others }) {
    const unknown = Object.keys(others).map((key) => ({ path: [key], message: 'unknown' }))
    if (unknown.length > 0) return { success: false, error: { issues: unknown } }
    return { success: true, data: { start, endFile } }
  },
}

export default {
  name: 'gauge',
  schema,
  create({ start, endFile }) {
    let asked = start
    let nodeId
    return {
      start: async ({ client }) => { nodeId = client.nodeId },
      stop: async () => { if (endFile) writeFileSync(endFile, 'stopped') },
      status: () => ({ asked }),
      routes: (server) => { server.get('/v1/gauge', () => ({ nodeId, asked: ++asked })) },
      metrics: () => [{ type: 'counter', name: 'asked', help: 'Times it was asked.', value: asked }],
    }
  },
}
`

/** A new directory with these packages installed, each the text of its one module. */
export function directoryWithPackages(modules: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'runnel-plugins-'))
  for (const [name, text] of Object.entries(modules)) {
    const folder = join(directory, 'node_modules', name)
    mkdirSync(folder, { recursive: true })
    const manifest = { name, version: '1.0.0', type: 'module', exports: { '.': { import: './main.js' } } }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'main.js'), text)
  }
  return directory
}
