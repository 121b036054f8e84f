import { timingSafeEqual, createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { nodeError } from '../../errors.ts'
import { maxCallBytes } from './calls.ts'
import { DriverSession } from './driver-session.ts'

export interface WorkerOptions {
  readonly host: string
  readonly port: number
  /** Whoever knows it may have this machine open any number of users. */
  readonly token: string
  readonly name: string
  /** That it has at once; each has users of its own. */
  readonly maxDrivers: number
}

/** A driver that vanished without a word is noticed by the system's own probes, which begin after so much silence. */
const keepAliveAfterMs = 30_000

/** A process that obeys drivers: one at a time, if nothing else is said. */
export interface BenchWorker {
  /** host:port. */
  readonly place: string
  /** Idempotent. */
  stop(): Promise<void>
}

/** Throws PORT_IN_USE. */
export async function startWorker({
  host,
  port,
  token,
  name,
  maxDrivers,
}: WorkerOptions): Promise<BenchWorker> {
  const server = createServer({ keepAlive: true, keepAliveInitialDelay: keepAliveAfterMs }, (_, response) =>
    response.writeHead(426).end(),
  )
  const sockets = new WebSocketServer({ noServer: true, maxPayload: maxCallBytes })
  const drivers = new Set<DriverSession>()
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // Node has taken its own listener away by now, and without one a driver that resets ends the worker.
    socket.on('error', () => socket.destroy())
    const refusal = !isToken(request.headers.authorization, token)
      ? '401 Unauthorized'
      : drivers.size >= maxDrivers && '409 Conflict'
    if (refusal) {
      // The other side need not close its half.
      socket.end(`HTTP/1.1 ${refusal}\r\nconnection: close\r\n\r\n`, () => socket.destroy())
      return
    }
    sockets.handleUpgrade(request, socket, head, (accepted) => {
      const free = () => void drivers.delete(served)
      const served = new DriverSession(accepted, { name, onStop: free })
      drivers.add(served)
      accepted.once('close', () => void served.stop().finally(free))
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(nodeError('BENCH_WORKER_PORT', `${host}:${port}: ${cause.message}`, { cause })),
    )
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    place: `${host}:${address.port}`,
    stop: async () => {
      // First, so that a driver hears of that, and not of what is called off here.
      for (const client of sockets.clients) client.terminate()
      await Promise.all(Array.from(drivers, (driver) => driver.stop()))
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** In the same time, however much of it is right. */
function isToken(header: string | undefined, token: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(header ?? ''), hash(`Bearer ${token}`))
}
