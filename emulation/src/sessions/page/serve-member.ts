import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOptions } from '@runnel/browser/bundle'
import { build, stop as stopBundler } from 'esbuild'

const html = `<!doctype html><meta charset="utf-8"><title>A member</title><link rel="icon" href="data:,">
<script type="module" src="member.js"></script>`

/** Bundles the page of a member, and serves it on this machine. */
export async function serveMember(): Promise<{ readonly url: string; stop(): void }> {
  const here = fileURLToPath(new URL('.', import.meta.url))
  const { outputFiles } = await build({
    ...pageOptions,
    absWorkingDir: here,
    entryPoints: { member: fileURLToPath(new URL('member.ts', import.meta.url)) },
    outdir: here,
    splitting: true,
    // What libopus-wasm asks for in Node only.
    external: ['node:module'],
    write: false,
  })
  // Its process would count as the machine's.
  await stopBundler()
  const files = new Map(outputFiles.map(({ path, contents }) => [`/${basename(path)}`, contents]))
  const server = createServer(({ url = '/' }, response) => {
    const { pathname } = new URL(url, 'http://localhost')
    const script = files.get(pathname)
    if (pathname === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(html)
    else if (script === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': 'text/javascript' }).end(script)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
