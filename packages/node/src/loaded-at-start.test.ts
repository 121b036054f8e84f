import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Prints what of Node itself, and of packages in CommonJS, is loaded. */
const tell = `
  const { createRequire } = await import('node:module')
  const files = Object.keys(createRequire(import.meta.url).cache)
  process.stdout.write([...process.moduleLoadList, ...files].join('\\n'))
`
const startNode = `
  const { startBroker } = await import('./packages/node/src/node.ts')
  const { loadConfig } = await import('./packages/node/src/config/load-config.ts')
  const [directory] = process.argv.slice(1)
  const off = { 'webrtc-enabled': false, 'log-level': 'silent' }
  const flags = { network: 'network.json', 'websocket-port': 0, 'http-port': 0, ...off }
  const config = loadConfig({ flags, env: {}, directory, onHidden: () => {} })
  const broker = await startBroker(config, { env: {}, directory })
  ${tell}
  await broker.stop()
`
const startTracker = (request: string) => `
  const { createIdentity, generatePrivateKey, loadCrypto } = await import('@runnel/protocol')
  const { systemClock: clock, systemRandom: random } = await import('@runnel/protocol/system')
  const { createTracker } = await import('@runnel/tracker')
  const crypto = await loadCrypto()
  const identity = createIdentity(generatePrivateKey(random), crypto)
  const tracker = createTracker({ listen: { port: 0 } }, { identity, crypto, clock, random })
  await tracker.start()
  const { status } = await fetch(tracker.httpUrl + '${request}')
  if (status !== 200) throw new Error('answered with ' + status)
  ${tell}
  await tracker.stop()
`

let directory: string
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), 'runnel-loaded-'))))
afterEach(() => rmSync(directory, { recursive: true }))

async function loadedBy(script: string): Promise<string> {
  const args = ['--conditions=runnel-src', '--input-type=module', '--eval', script, directory]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root })
  return stdout
}

it('loads nothing for what is switched off', { timeout: 60_000 }, async () => {
  const trackers = [{ nodeId: `0x${'a'.repeat(40)}`, url: 'ws://127.0.0.1:1' }]
  writeFileSync(join(directory, 'network.json'), JSON.stringify({ version: 1, trackers, streams: [] }))
  const loaded = await loadedBy(startNode)
  expect(loaded).toContain('/fastify/')
  // The first is Node's fetch, which an import of node:http loads, too.
  for (const name of ['deps/undici', '/ajv/', '/mqtt-packet/', '/better-sqlite3/', '/node-datachannel/'])
    expect(loaded).not.toContain(name)
})

it(
  'loads what checks requests to a tracker with the first that has a schema',
  { timeout: 60_000 },
  async () => {
    const loaded = await loadedBy(startTracker('/health'))
    expect(loaded).toContain('/fastify/')
    for (const name of ['/ajv/', '/fast-json-stringify-compiler/']) expect(loaded).not.toContain(name)
    expect(await loadedBy(startTracker('/v1/nodes'))).toContain('/ajv/')
  },
)
