import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Line } from './line.ts'

/** Stands before a TCP server, with a line in each direction. Nothing is lost: who sends too much has to wait. */
export class ShapedTcp {
  readonly #lines: { readonly there: Line; readonly back: Line }
  readonly #sockets = new Set<Socket>()
  #stop = (): void => {}

  constructor(lines: { readonly there: Line; readonly back: Line }) {
    this.#lines = lines
  }

  /** Returns the port where it listens. */
  async start(targetPort: number): Promise<number> {
    const server = createServer((near) => {
      const far = connect(targetPort, '127.0.0.1')
      this.#carry(near, far, this.#lines.there)
      this.#carry(far, near, this.#lines.back)
    })
    this.#stop = () => void server.close()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  close(): void {
    this.#stop()
    for (const socket of this.#sockets) socket.destroy()
  }

  #carry(from: Socket, to: Socket, line: Line): void {
    this.#sockets.add(from)
    from.setNoDelay(true)
    from.on('data', (chunk: Buffer) => {
      line.send(chunk.length, () => {
        if (!to.destroyed) to.write(chunk)
        if (line.hasRoom) from.resume()
      })
      if (!line.hasRoom) from.pause()
    })
    from.on('close', () => to.destroy())
    from.on('error', () => to.destroy())
  }
}
