import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'

const types: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript' }

export interface PageServer {
  /** Ends with a slash. */
  readonly url: string
  close(): Promise<void>
}

/** Serves the files of a directory, and the given pages (`/name` to HTML), on a free port of this machine; each with `headers` in addition. */
export async function servePages(
  directory: string,
  pages: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<PageServer> {
  const server: Server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const page = pages[pathname]
    const content = page === undefined ? readFile(join(directory, pathname)) : Promise.resolve(page)
    content.then(
      (body) => {
        const type = types[extname(pathname)] ?? 'text/html'
        response
          .writeHead(200, { 'content-type': type, 'cache-control': 'max-age=3600', ...headers })
          .end(body)
      },
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
