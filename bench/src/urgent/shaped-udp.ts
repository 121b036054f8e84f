import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Line } from './line.ts'

/** Stands before a UDP socket: whoever sends here is heard there, over one line, and answered over the other. */
export class ShapedUdp {
  readonly #lines: { readonly there: Line; readonly back: Line }
  readonly #socket = createSocket('udp4')
  /** Towards the target, one for each sender. */
  readonly #onward = new Map<string, Socket>()
  #isClosed = false

  constructor(lines: { readonly there: Line; readonly back: Line }) {
    this.#lines = lines
  }

  /** Returns the port where it listens. */
  async start(target: { readonly address: string; readonly port: number }): Promise<number> {
    this.#socket.on('message', (message, { address, port }) => {
      const onward = this.#onwardFor(address, port)
      this.#lines.there.sendDatagram(message.length, () => {
        if (!this.#isClosed) onward.send(message, target.port, target.address)
      })
    })
    this.#socket.bind(0, '127.0.0.1')
    await once(this.#socket, 'listening')
    return this.#socket.address().port
  }

  close(): void {
    this.#isClosed = true
    for (const socket of [this.#socket, ...this.#onward.values()]) socket.close()
  }

  #onwardFor(address: string, port: number): Socket {
    const key = `${address} ${port}`
    const known = this.#onward.get(key)
    if (known !== undefined) return known
    const socket = createSocket('udp4')
    socket.on('message', (message) => {
      this.#lines.back.sendDatagram(message.length, () => {
        if (!this.#isClosed) this.#socket.send(message, port, address)
      })
    })
    this.#onward.set(key, socket)
    return socket
  }
}
