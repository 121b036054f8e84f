import { createServer } from 'node:net'
import { openWebSocket } from './check-network.ts'
import { failure, ok, warning, type Finding } from './finding.ts'

/** How long a connection from the public URL to this machine may take, in milliseconds. */
const arrivalTimeoutMs = 5_000

const check = 'public URL'
const remedy =
  'Make the proxy, NAT or firewall forward it to websocket.host and websocket.port. Some NATs do not forward connections from inside: then test from another machine.'

/** Whether what others dial leads to this machine: to the node where it runs, else to where it will listen. */
export async function checkPublicUrl(
  url: string,
  { host, port }: { readonly host: string; readonly port: number },
  isRunning: boolean,
): Promise<Finding> {
  if (isRunning) {
    const problem = await openWebSocket(url)
    return problem === undefined
      ? ok(check, `${url} accepts WebSockets`)
      : warning(check, `${url}: ${problem}`, remedy)
  }
  if (port === 0)
    return warning(check, 'websocket.port is 0, so it changes at each start', 'Set websocket.port.')
  const arrived = await arrives(url, host, port)
  if (arrived === undefined)
    return failure(check, `nothing can listen on ${host}:${port}`, 'See the checks of ports.')
  return arrived
    ? ok(check, `${url} leads to ${host}:${port}`)
    : warning(check, `${url} does not lead here`, remedy)
}

/** Listens there while somebody asks for the URL, and tells whether anybody came. */
async function arrives(url: string, host: string, port: number): Promise<boolean | undefined> {
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>()
  const server = createServer((socket) => {
    socket.destroy()
    resolve(true)
  })
  const asking = new AbortController()
  server.once('error', () => resolve(undefined))
  server.listen({ host, port, exclusive: true }, () => {
    const signal = AbortSignal.any([asking.signal, AbortSignal.timeout(arrivalTimeoutMs)])
    // What answers does not matter, nor that the one who listens hangs up.
    fetch(url.replace(/^ws/, 'http'), { signal }).then(
      () => resolve(false),
      () => setImmediate(() => resolve(false)),
    )
  })
  const result = await promise
  asking.abort()
  server.close()
  return result
}
