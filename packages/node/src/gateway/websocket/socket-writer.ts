import type { Clock } from '@runnel/protocol'
import type { WebSocket } from 'ws'
import { gatewayLimits } from '../limits.ts'
import { encodeBinary, type Subprotocol } from './frames.ts'
import { closeCodes } from './close-codes.ts'

/** When this many bytes are on their way to a client, its subscriptions wait. */
const highMarkBytes = 256 * 1024

const nothing = new Uint8Array()

/** Writes to a WebSocket. A client that takes nothing for too long is closed. */
export class SocketWriter {
  readonly #socket: WebSocket
  readonly #protocol: Subprotocol
  readonly #clock: Pick<Clock, 'schedule'>

  constructor(socket: WebSocket, protocol: Subprotocol, clock: Pick<Clock, 'schedule'>) {
    this.#socket = socket
    this.#protocol = protocol
    this.#clock = clock
  }

  get isBinary(): boolean {
    return this.#protocol === 'runnel.binary.v1'
  }

  /** Resolves when there is room for more; undefined when there is. */
  say(header: unknown, content: Uint8Array = nothing): Promise<void> | undefined {
    if (this.#socket.readyState !== this.#socket.OPEN) return undefined
    const data = this.isBinary ? encodeBinary(header, content) : JSON.stringify(header)
    if (this.#socket.bufferedAmount < highMarkBytes) {
      this.#socket.send(data)
      return undefined
    }
    return new Promise((resolve) => {
      const cancel = this.#clock.schedule(gatewayLimits.idleMs, () => this.#socket.terminate())
      // Called also when it closes.
      this.#socket.send(data, () => {
        cancel()
        resolve()
      })
    })
  }

  close(code: keyof typeof closeCodes): void {
    this.#socket.close(Number(code), closeCodes[code])
  }
}
