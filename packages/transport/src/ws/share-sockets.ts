import type { Server, Socket } from 'node:net'
import { networkOf, Shares } from '@runnel/protocol'

/**
 * Bounds the sockets of a server from the moment they are accepted, before TLS and HTTP. Above `max`, the newest socket of the
 * network (/24, for IPv6 /48) with the most is closed. `onCut` is called for each.
 */
export function shareSockets(server: Server, max: number, onCut: () => void): void {
  const sockets = new Shares<Socket>({ max, evict: 'newest' })
  server.on('connection', (socket) => {
    // Not `once`, which holds more: it closes only once.
    socket.on('close', () => sockets.delete(socket))
    for (const cut of sockets.add(socket, networkOf(socket.remoteAddress ?? ''))) {
      onCut()
      cut.destroy()
    }
  })
}
