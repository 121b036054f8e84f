import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tracker } from '@runnel/tracker'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../packages/browser/src/chromium.testkit.ts'
import { networkOf, startTracker } from '../../packages/browser/src/network.testkit.ts'
import { servePages } from '../../packages/browser/src/page-server.testkit.ts'
import { packAll, root, type Packed } from './packed.testkit.ts'
import { installProject, type Project } from './project.testkit.ts'

const hello = '{"hello":"world"}'
/** A registry may be slow. */
const installTimeoutMs = 300_000
const bin = (name: string) => join(root, 'node_modules/.bin', name)
const node = process.execPath
const clientAlone = ['client', 'contracts', 'network', 'protocol', 'transport'] as const

let packed: Packed
let tracker: Tracker
let network: ReturnType<typeof networkOf>
beforeAll(async () => {
  ;[packed, tracker] = await Promise.all([packAll('/srv/runnel.git'), startTracker()])
  network = networkOf(tracker, `0x${'1'.repeat(40)}/installed`)
})
afterAll(async () => {
  packed.remove()
  await tracker.stop()
})

describe('a project with @runnel/client', () => {
  let project: Project
  beforeAll(async () => {
    project = await installProject(packed.paths(...clientAlone))
  }, installTimeoutMs)
  afterAll(() => project.remove())

  const compiled = (module: string, moduleResolution: string) => ({
    compilerOptions: {
      ...{ target: 'es2023', module, moduleResolution, outDir: `out-${moduleResolution}` },
      ...{ strict: true, skipLibCheck: false },
      types: ['node'],
    },
    files: ['main.ts', 'page.ts'],
  })

  it('takes at most 40 MB', () => {
    expect(project.installedBytes()).toBeLessThanOrEqual(40_000_000)
  })

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compiles strictly with module %s and resolution %s, and talks', async (module, resolution) => {
    project.write('tsconfig.json', compiled(module, resolution))
    await project.run(node, join(root, 'node_modules/typescript/bin/tsc'))
    const program = `out-${resolution}/main.js`
    expect(await project.run(node, program, JSON.stringify(network))).toBe(hello)
  })

  it('keeps its types in a page whose `lib` is older, as Vite sets it', async () => {
    project.write(
      'older.ts',
      `import type { Responding } from '@runnel/client'
      // @ts-expect-error: it would be \`any\` if a type that it is made of were missing.
      export const misspelt = (responding: Responding) => responding.unsubscrib()`,
    )
    const lib = ['es2023', 'dom']
    const options = { target: 'es2023', lib, module: 'esnext', moduleResolution: 'bundler', types: [] }
    project.write('tsconfig.json', {
      compilerOptions: { ...options, strict: true, skipLibCheck: true, noEmit: true },
      files: ['older.ts'],
    })
    await project.run(node, join(root, 'node_modules/typescript/bin/tsc'))
  })

  it('talks by WebRTC in Node', async () => {
    expect(await project.run(node, 'out-nodenext/main.js', JSON.stringify(network), 'webrtc')).toBe(hello)
  })

  it('can be required by CommonJS, and talks', async () => {
    project.write(
      'main.cjs',
      `const { createClient, RunnelError } = require('@runnel/client')
      const network = ${JSON.stringify(network)}
      const [{ id }] = network.document.streams
      const transports = { webrtc: false, websocket: { listen: { host: '127.0.0.1', port: 0 } } }
      async function main() {
        const code = await createClient({}).catch((error) => error instanceof RunnelError && error.code)
        const reader = await createClient({ network, transports })
        const writer = await createClient({ network, transports })
        const subscription = await reader.subscribe(id)
        await writer.publish(id, { hello: 'world' })
        for await (const { content } of subscription) {
          await Promise.all([reader.close(), writer.close()])
          return [code, content]
        }
      }
      main().then((result) => console.log(JSON.stringify(result)))`,
    )
    expect(await project.run(node, 'main.cjs')).toBe(`["INVALID_CONFIG",${hello}]`)
  })

  it('exports the same names for Node and for pages', async () => {
    project.write(
      'names.js',
      `import * as here from '@runnel/client'
      import * as page from '@runnel/client/browser'
      console.log(JSON.stringify([here, page].map((entry) => Object.keys(entry).toSorted())))`,
    )
    const [here, page] = JSON.parse(await project.run(node, 'names.js')) as [string[], string[]]
    expect(here).toEqual(expect.arrayContaining(['createClient', 'isRunnelError', 'RunnelError']))
    expect(page).toEqual(here)
  })

  it.each(['websocket', 'webrtc'])('talks by %s in Bun', async (kind) => {
    expect(await project.run(bin('bun'), 'main.ts', JSON.stringify(network), kind)).toBe(hello)
  })

  it.each(['websocket', 'webrtc'])('talks by %s in Deno', async (kind) => {
    const args = ['run', '--quiet', '--allow-all', '--unstable-sloppy-imports', 'main.ts']
    expect(await project.run(bin('deno'), ...args, JSON.stringify(network), kind)).toBe(hello)
  })

  it('talks in a page that Vite built', async () => {
    await build({ root: project.directory, logLevel: 'warn', configFile: false })
    const server = await servePages(join(project.directory, 'dist'), {})
    const browser = await launchChromium()
    const page = await browser.newPage()
    await page.goto(`${server.url}index.html`)
    const content = await page.evaluate(
      (given) => (globalThis as unknown as { said(network: unknown): Promise<unknown> }).said(given),
      network,
    )
    await browser.close()
    await server.close()
    expect(content).toEqual(JSON.parse(hello))
  })

  it('has no embedded chain, and is told how to add it', async () => {
    expect(existsSync(join(project.directory, 'node_modules/@foundry-rs'))).toBe(false)
    project.write(
      'chain.js',
      `import { startAnvil } from '@runnel/contracts/anvil'
      await startAnvil().catch(({ code, remedy }) => console.log(code, remedy))`,
    )
    expect(await project.run(node, 'chain.js')).toMatch(
      /^CHAIN_BINARY_MISSING .* npm install @foundry-rs\/anvil@/,
    )
  })
})

describe('a project with @runnel/node', () => {
  let project: Project
  beforeAll(async () => {
    project = await installProject(packed.paths())
  }, installTimeoutMs)
  afterAll(() => project.remove())

  it('runs a network with the embedded chain', async () => {
    const report = await project.run('npx', 'runnel', 'up', '--nodes', '2', '--for', '2s', '--json')
    expect(JSON.parse(report)).toMatchObject({ complete: true })
  })

  it('runs the bundle, which finds from its own folder what is not in it', async () => {
    project.write(
      'bundled.js',
      `import { createRequire } from 'node:module'
      import { fileURLToPath } from 'node:url'
      import { programUrl } from './node_modules/@runnel/node/bin/program.js'
      const file = fileURLToPath(programUrl())
      const own = createRequire(import.meta.url)('./node_modules/@runnel/node/package.json').dependencies
      const outside = ['better-sqlite3', 'cassandra-driver', 'node-datachannel', 'secp256k1', 'tiny-secp256k1']
      outside.forEach((name) => createRequire(file).resolve(name))
      console.log(file.endsWith('/dist/program/main.js'), outside.filter((name) => !(name in own)))`,
    )
    expect(await project.run(node, 'bundled.js')).toBe('true []')
  })

  it('knows its version, and names itself as it can be started there', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/node/package.json'), 'utf8')) as {
      readonly version: string
    }
    // Of a package that is called `runnel`, npx would fetch what a stranger put there.
    expect(await project.run('npx', '@runnel/node', '--version')).toBe(version)
    expect(await project.run('npx', 'runnel', '--help')).toContain('npx @runnel/node node')
  })
})
