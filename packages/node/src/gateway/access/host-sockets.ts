import type { Server, Socket } from 'node:net'
import { hostOf } from '@runnel/protocol'

/**
 * Bounds the sockets of each host, which is an IPv4 address or an IPv6 /64, from the moment they are accepted: before TLS, HTTP, and
 * anybody knows whose they are. Further ones are closed.
 */
export class HostSockets {
  readonly #max: number
  readonly #onCut: () => void
  readonly #counts = new Map<string, number>()

  /** `onCut` is called for each that is closed. */
  constructor(max: number, onCut: () => void) {
    this.#max = max
    this.#onCut = onCut
  }

  /** Counts those of one more server. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#take(socket))
  }

  #take(socket: Socket): void {
    const host = hostOf(socket.remoteAddress ?? '')
    const count = this.#counts.get(host) ?? 0
    if (count >= this.#max) {
      this.#onCut()
      socket.destroy()
      return
    }
    this.#counts.set(host, count + 1)
    socket.once('close', () => this.#leave(host))
  }

  #leave(host: string): void {
    const left = (this.#counts.get(host) ?? 1) - 1
    if (left === 0) this.#counts.delete(host)
    else this.#counts.set(host, left)
  }
}
