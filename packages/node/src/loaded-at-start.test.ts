import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Starts a node, and prints what of Node itself, and of packages in CommonJS, is loaded then. */
const script = `
  import { createRequire } from 'node:module'
  const { startBroker } = await import('./packages/node/src/node.ts')
  const { loadConfig } = await import('./packages/node/src/config/load-config.ts')
  const [directory] = process.argv.slice(1)
  const off = { 'webrtc-enabled': false, 'log-level': 'silent' }
  const flags = { network: 'network.json', 'websocket-port': 0, 'http-port': 0, ...off }
  const config = loadConfig({ flags, env: {}, directory, onHidden: () => {} })
  const broker = await startBroker(config, { env: {}, directory })
  const files = Object.keys(createRequire(import.meta.url).cache)
  process.stdout.write([...process.moduleLoadList, ...files].join('\\n'))
  await broker.stop()
`

let directory: string
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'runnel-loaded-'))))
afterEach(() => rmSync(directory, { recursive: true }))

it('loads nothing for what is switched off', { timeout: 60_000 }, async () => {
  const trackers = [{ nodeId: `0x${'a'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
  writeFileSync(join(directory, 'network.json'), JSON.stringify({ version: 1, trackers, streams: [] }))
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', script, directory]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  expect(stdout).toContain('/fastify/')
  // The first is Node's fetch, which an import of node:http loads, too.
  for (const name of ['deps/undici', '/ajv/', '/mqtt-packet/', '/better-sqlite3/', '/node-datachannel/'])
    expect(stdout).not.toContain(name)
})
