import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer, type WebSocket } from 'ws'

/** Above it the other side is not read. */
const maxBufferedBytes = 256 * 1024

/**
 * Lets pages be dialled, for tests: whoever dials `/dial/<name>` is connected with a WebSocket that the page of that name opens
 * when it is told to, and the frames of the one go to the other. What it does to the links of a name, the page says.
 */
export class SocketRelay {
  readonly #server = createServer()
  readonly #sockets = new WebSocketServer({ noServer: true })
  /** By name: tells the page to accept. */
  readonly #stations = new Map<string, Station>()
  readonly #waiting = new Map<string, Link>()
  #nextId = 0

  async start(): Promise<string> {
    this.#server.on('upgrade', (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      const [, verb = '', name = ''] = (request.url ?? '').split('/')
      if (verb === 'dial' && !this.#stations.has(name)) {
        socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
        return
      }
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#opened(verb, name, opened))
    })
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #opened(verb: string, name: string, socket: WebSocket): void {
    socket.on('error', () => {})
    if (verb === 'listen') return this.#listen(name, socket)
    if (verb === 'accept') return this.#waiting.get(name)?.accept(socket)
    const id = String(this.#nextId++)
    const link = new Link(socket)
    this.#waiting.set(id, link)
    const station = this.#stations.get(name)
    station?.links.add(link)
    station?.control.send(id)
  }

  #listen(name: string, control: WebSocket): void {
    const station: Station = { control, links: new Set() }
    this.#stations.set(name, station)
    control.on('message', (text) => {
      for (const link of station.links) link.suffer(String(text))
    })
    control.on('close', () => this.#stations.delete(name))
  }
}

interface Station {
  readonly control: WebSocket
  readonly links: Set<Link>
}

/** Two WebSockets, and what becomes of the frames between them. */
class Link {
  readonly #dialler: WebSocket
  #acceptor: WebSocket | undefined
  #silent = false
  #stalled = false

  constructor(dialler: WebSocket) {
    this.#dialler = dialler
    dialler.pause()
  }

  accept(acceptor: WebSocket): void {
    this.#acceptor = acceptor
    this.#pipe(this.#dialler, acceptor)
    this.#pipe(acceptor, this.#dialler)
    this.#dialler.resume()
  }

  /** A fault, or its end. */
  suffer(fault: string): void {
    if (fault === 'silence') this.#silent = true
    this.#stalled = fault === 'stall'
    if (this.#stalled) this.#dialler.pause()
    else this.#dialler.resume()
    if (fault === 'cut') for (const socket of [this.#dialler, this.#acceptor]) socket?.terminate()
  }

  #pipe(from: WebSocket, to: WebSocket): void {
    from.on('message', (data: Buffer, isBinary) => {
      if (this.#silent) return
      to.send(data, { binary: isBinary }, () => {
        if (to.bufferedAmount <= maxBufferedBytes && !(this.#stalled && from === this.#dialler)) from.resume()
      })
      if (to.bufferedAmount > maxBufferedBytes) from.pause()
    })
    from.on('close', (code) => {
      if (this.#silent) return
      if (code === 1000 || code >= 3000) to.close(code)
      else to.terminate()
    })
  }
}
