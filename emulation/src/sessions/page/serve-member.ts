import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bundlePage } from '../../pages/bundle-page.ts'

/** Bundles the page of a member, and serves it on this machine. */
export async function serveMember(): Promise<{ readonly url: string; stop(): void }> {
  const files = await bundlePage(new URL('member.ts', import.meta.url), 'A member')
  const server = createServer(({ url = '/' }, response) => {
    const file = files.get(new URL(url, 'http://localhost').pathname)
    if (file === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': file.type }).end(file.body)
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
