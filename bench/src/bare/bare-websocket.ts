import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import type { BareLink } from './bare-link.ts'

/** A bare link over an open socket. */
function link(socket: WebSocket): BareLink {
  socket.binaryType = 'nodebuffer'
  const end: BareLink = {
    onMessage: () => {},
    send: (message) => socket.send(message),
    buffered: () => socket.bufferedAmount,
    close: () => socket.terminate(),
  }
  socket.on('message', (data: Buffer) => end.onMessage(data))
  socket.on('error', () => {})
  return end
}

/** Dials a listener made by `listenBareWebSocket`. */
export async function dialBareWebSocket(url: string): Promise<BareLink> {
  const socket = new WebSocket(url, { perMessageDeflate: false })
  await once(socket, 'open')
  return link(socket)
}

/** Listens on loopback; `onLink` gets each link and the path it was dialled with. */
export async function listenBareWebSocket(
  onLink: (link: BareLink, path: string) => void,
): Promise<{ url: string; close(): void }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false })
  await once(server, 'listening')
  server.on('connection', (socket, request) => onLink(link(socket), request.url ?? '/'))
  const { port } = server.address() as AddressInfo
  return { url: `ws://127.0.0.1:${port}`, close: () => server.close() }
}

/** Two ends in this process. */
export async function bareWebSocketPair(): Promise<[BareLink, BareLink]> {
  const accepted = Promise.withResolvers<BareLink>()
  const server = await listenBareWebSocket(accepted.resolve)
  const dialled = await dialBareWebSocket(server.url)
  const pair: [BareLink, BareLink] = [dialled, await accepted.promise]
  server.close()
  return pair
}
