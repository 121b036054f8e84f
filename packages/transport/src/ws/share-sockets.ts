import type { Server, Socket } from 'node:net'
import { networkOf, Shares } from '@runnel/protocol'

/**
 * Bounds the sockets of a server from the moment that they are accepted, before TLS and before HTTP: where there are more than
 * `max`, the newest of the network (/24, of IPv6 /48) with the most is cut off. `onCut` hears of each.
 */
export function shareSockets(server: Server, max: number, onCut: () => void): void {
  const sockets = new Shares<Socket>({ max, evict: 'newest' })
  server.on('connection', (socket) => {
    socket.once('close', () => sockets.delete(socket))
    for (const cut of sockets.add(socket, networkOf(socket.remoteAddress ?? ''))) {
      onCut()
      cut.destroy()
    }
  })
}
