import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RunnelError } from '@runnel/protocol'
import { WebSocketServer, type WebSocket } from 'ws'
import { nodeError } from '../../errors.ts'
import type { Gateway } from '../gateway.ts'
import { answerPings } from '../answer-pings.ts'
import { credentialOf } from '../http/credentials.ts'
import { problemOf, waitOf } from '../http/problem.ts'
import { gatewayLimits } from '../limits.ts'
import { closeCodes } from './close-codes.ts'
import { GatewayConnection } from './connection.ts'
import { subprotocols, type Subprotocol } from './frames.ts'

const path = '/v1/ws'

/** Takes WebSockets at `/v1/ws` from an HTTP server, with the same keys. */
export class GatewayWebSockets {
  readonly #gateway: Gateway
  readonly #origins: readonly string[]
  readonly #server = new WebSocketServer({
    noServer: true,
    maxPayload: gatewayLimits.maxFrameBytes,
    // Nothing that is said twice is worth the memory of each connection.
    perMessageDeflate: false,
    autoPong: false,
    handleProtocols: (offered) => subprotocols.find((name) => offered.has(name)) ?? false,
  })

  constructor(gateway: Gateway, origins: readonly string[]) {
    this.#gateway = gateway
    this.#origins = origins
  }

  /** For the event `upgrade` of a server. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // Whoever goes away meanwhile has no answer to get.
    socket.on('error', () => socket.destroy())
    try {
      if (request.url?.split('?')[0] !== path) throw nodeError('GATEWAY_NO_ROUTE')
      const { callers } = this.#gateway
      const found = callers.accountOf(
        credentialOf(request, true, this.#origins),
        request.socket.remoteAddress ?? '',
      )
      let opened: WebSocket | undefined
      let ended: RunnelError | undefined
      const caller = await callers.stay(found, (why) => {
        ended = why
        opened?.close(4401, closeCodes[4401])
      })
      if (socket.destroyed) return caller.release()
      if (ended !== undefined) {
        caller.release()
        throw ended
      }
      socket.once('close', () => caller.release())
      this.#server.handleUpgrade(request, socket, head, (webSocket) => {
        opened = webSocket
        const protocol = (webSocket.protocol || subprotocols[0]) as Subprotocol
        new GatewayConnection(webSocket, protocol, { caller, gateway: this.#gateway }).start()
        answerPings(webSocket, gatewayLimits.maxUnreadBytes)
        this.#watch(webSocket)
      })
    } catch (error) {
      this.#refuse(socket, error)
    }
  }

  stop(): void {
    for (const webSocket of this.#server.clients) webSocket.close(1001, closeCodes[1001])
    this.#server.close()
  }

  /** One that is gone without a word is let go of. */
  #watch(webSocket: WebSocket): void {
    let isThere = true
    webSocket.on('pong', () => (isThere = true))
    const ask = () => {
      if (!isThere) return webSocket.terminate()
      isThere = false
      webSocket.ping()
      cancel = this.#gateway.clock.schedule(gatewayLimits.idleMs, ask)
    }
    let cancel = this.#gateway.clock.schedule(gatewayLimits.idleMs, ask)
    webSocket.once('close', () => cancel())
  }

  #refuse(socket: Duplex, error: unknown): void {
    const problem = problemOf(error)
    const waitMs = waitOf(error)
    this.#gateway.counts.refuse(problem.code)
    const body = JSON.stringify(problem)
    // One that does not close its side is not waited for.
    socket.once('finish', () => socket.destroy())
    socket.end(
      `HTTP/1.1 ${problem.status} Refused\r\ncontent-type: application/problem+json\r\n` +
        (waitMs === undefined ? '' : `retry-after: ${Math.ceil(waitMs / 1000)}\r\n`) +
        `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    )
  }
}
