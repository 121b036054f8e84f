/** Stands before the embedded chain, and lets neither pages of other places nor other names of this machine through. */
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'

/** Where something listens. */
export interface Endpoint {
  readonly host: string
  readonly port: number
}

export interface ChainGuard {
  readonly url: string
  /** Where the chain listens; before this is said requests are answered 503. */
  forwardTo(chain: Endpoint): void
  /** Cuts all connections. Idempotent. */
  stop(): Promise<void>
}

/**
 * Listens, and passes JSON-RPC on. The chain itself answers whoever asks, over WebSockets too, and everybody knows the keys
 * of its accounts; a browser lets any page on the web ask. So: no page but one that this machine serves (by its origin), no
 * name but `localhost` or an address (a name may be the page's own, pointed here), only what a page of another origin cannot
 * send unasked (JSON), and no WebSockets. Rejects as `listen` does.
 */
export async function startChainGuard({ host, port }: Endpoint): Promise<ChainGuard> {
  const agent = new Agent({ keepAlive: true })
  let chain: Endpoint | undefined
  // An idle connection stays: a client may be about to use it.
  const server = createServer({ keepAliveTimeout: 0 }, (asked, answer) => {
    const origin = asked.headers.origin
    if (!isByAddress(asked.headers.host) || (origin !== undefined && !isOfThisMachine(origin)))
      return refuse(answer, 403)
    if (origin !== undefined) allow(answer, origin)
    if (asked.method === 'OPTIONS') return void answer.writeHead(204).end()
    if (asked.method !== 'POST') return refuse(answer, 405)
    if (!/^application\/json\b/i.test(asked.headers['content-type'] ?? '')) return refuse(answer, 415)
    if (chain === undefined) return refuse(answer, 503)
    forward(asked, answer, { ...chain, agent })
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    url: urlOf(server.address() as AddressInfo),
    forwardTo: (endpoint) => (chain = endpoint),
    stop: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function isByAddress(host = ''): boolean {
  const name = host.replace(/:\d+$/, '')
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0
}

function isOfThisMachine(origin: string): boolean {
  return /^https?:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/.test(origin)
}

function allow(answer: ServerResponse, origin: string): void {
  answer.setHeader('access-control-allow-origin', origin)
  answer.setHeader('access-control-allow-headers', 'content-type')
  answer.setHeader('vary', 'origin')
}

function refuse(answer: ServerResponse, status: number): void {
  answer.writeHead(status, { connection: 'close' }).end()
}

function forward(asked: IncomingMessage, answer: ServerResponse, to: Endpoint & { agent: Agent }): void {
  const headers = { 'content-type': 'application/json', ...lengthOf(asked) }
  const passed = request({ ...to, method: 'POST', headers }, (answered) => {
    answer.writeHead(answered.statusCode ?? 502, {
      'content-type': 'application/json',
      ...lengthOf(answered),
    })
    answered.on('error', () => answer.destroy())
    answered.pipe(answer)
  })
  // The chain is gone: its client is to notice as if there were nothing between.
  passed.on('error', () => answer.destroy())
  answer.on('close', () => answer.writableFinished || passed.destroy())
  asked.pipe(passed)
}

function lengthOf({ headers }: IncomingMessage): { 'content-length'?: string } {
  const length = headers['content-length']
  return length === undefined ? {} : { 'content-length': length }
}

function urlOf({ address, family, port }: AddressInfo): string {
  if (address === '0.0.0.0' || address === '::') return `http://127.0.0.1:${port}`
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
