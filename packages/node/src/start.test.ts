import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const program = fileURLToPath(new URL('../bin/runnel.js', import.meta.url))

/** Runs before the program, and has it write at its end which files it loaded, on stderr. */
const listing = `import { registerHooks } from 'node:module'
const urls = []
registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
process.on('exit', () => process.stderr.write(urls.join(String.fromCharCode(10))))`

async function loadedBy(...args: readonly string[]): Promise<string[]> {
  const hooks = `data:text/javascript,${encodeURIComponent(listing)}`
  const { stderr } = await promisify(execFile)(process.execPath, ['--import', hooks, program, ...args])
  return stderr.split('\n').filter((url) => url.startsWith('file:'))
}

it('loads no package to say its version', async () => {
  const loaded = await loadedBy('--version')
  expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([])
  expect(loaded.length).toBeLessThan(10)
})

it('loads to publish neither what talks to chains, nor WebRTC, nor stores, nor servers before they are used', async () => {
  const loaded = await loadedBy('publish', '--help')
  const large = /node_modules\/(ethers|node-datachannel|better-sqlite3|fastify|pino|prom-client|@libp2p)\//
  expect(loaded.filter((url) => large.test(url))).toEqual([])
  expect(loaded.filter((url) => url.includes('/contracts/'))).toEqual([])
})

it('keeps compiled code where only its user can write', async () => {
  const [home, shared] = ['home', 'shared'].map((name) => mkdtempSync(join(tmpdir(), `runnel-${name}-`)))
  const env = { PATH: process.env['PATH'], HOME: home, TMPDIR: shared }
  await promisify(execFile)(process.execPath, [program, '--version'], { env })
  expect(readdirSync(shared ?? '')).toEqual([])
  expect(existsSync(join(home ?? '', '.cache/runnel/compiled'))).toBe(true)
  for (const directory of [home, shared]) rmSync(directory ?? '', { recursive: true })
})
