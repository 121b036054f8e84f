import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOptions } from '@runnel/browser/bundle'
import type { NetworkSource } from '@runnel/client'
import { build } from 'esbuild'
import type { Example } from './command-line.ts'

const here = dirname(fileURLToPath(import.meta.url))
/** Which a page starts where it has many signatures to check. */
const worker = join(here, '../packages/protocol/src/verification/page-verification-worker.ts')

export interface ServedExample {
  readonly url: string
  stop(): Promise<void>
}

/** Serves the page of an example, and the network it joins, on this machine. */
export async function serveExample(
  example: Example,
  network: NetworkSource,
  port = 0,
): Promise<ServedExample> {
  const files = await filesOf(example)
  files.set('/network.json', { type: 'application/json', body: JSON.stringify(network) })
  const server = createServer((request, response) => {
    const [path = '/'] = (request.url ?? '/').split('?')
    const file = files.get(path)
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': file.type }).end(file.body)
  })
  const listening = Promise.withResolvers<void>()
  server.once('error', listening.reject)
  server.listen(port, '127.0.0.1', listening.resolve)
  await listening.promise
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

interface File {
  readonly type: string
  readonly body: string | Uint8Array
}

async function filesOf(example: Example): Promise<Map<string, File>> {
  // Beside index.html, whose program is main.ts.
  const further = readdirSync(join(here, example))
    .filter((name) => name.endsWith('.html') && name !== 'index.html')
    .map((name) => basename(name, '.html'))
  const { outputFiles } = await build({
    ...pageOptions,
    absWorkingDir: here,
    entryPoints: {
      main: join(here, example, existsSync(join(here, example, 'main.tsx')) ? 'main.tsx' : 'main.ts'),
      ...Object.fromEntries(further.map((page) => [page, join(here, example, `${page}.ts`)])),
      'page-verification-worker': worker,
    },
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: here,
    splitting: true,
    // What libopus-wasm asks for in Node only.
    external: ['node:module'],
    write: false,
  })
  const text = (path: string) => readFileSync(join(here, path), 'utf8')
  return new Map<string, File>([
    ['/', { type: 'text/html; charset=utf-8', body: text(`${example}/index.html`) }],
    ...further.map((page): [string, File] => [
      `/${page}.html`,
      { type: 'text/html; charset=utf-8', body: text(`${example}/${page}.html`) },
    ]),
    ['/page.css', { type: 'text/css', body: text('shared/page.css') }],
    ...(existsSync(join(here, example, 'style.css'))
      ? [['/style.css', { type: 'text/css', body: text(`${example}/style.css`) }] as [string, File]]
      : []),
    ...outputFiles.map(({ path, contents }): [string, File] => {
      return [`/${basename(path)}`, { type: 'text/javascript', body: contents }]
    }),
  ])
}
