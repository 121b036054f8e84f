import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'

/** Returns the frames to pass on in place of one. `index` counts those of one direction, from 0. */
export type Meddle = (frame: Uint8Array, index: number) => readonly Uint8Array[]

const pass: Meddle = (frame) => [frame]

/** A proxy between WebSockets and a server that sees every frame and may drop or change it. */
export class FrameProxy {
  /** Of what goes to the server. */
  toServer: Meddle = pass
  toClient: Meddle = pass
  readonly #server: WebSocketServer
  readonly #target: string

  private constructor(server: WebSocketServer, target: string) {
    this.#server = server
    this.#target = target
    server.on('connection', (client) => this.#join(client))
  }

  static async to(target: string): Promise<FrameProxy> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await new Promise((resolve) => server.once('listening', resolve))
    return new FrameProxy(server, target)
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async stop(): Promise<void> {
    for (const client of this.#server.clients) client.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #join(client: WebSocket): void {
    const upstream = new WebSocket(this.#target)
    const early: Buffer[] = []
    client.on('message', (data: Buffer) => early.push(data))
    upstream.on('error', () => {})
    client.on('error', () => {})
    upstream.once('open', () => {
      client.removeAllListeners('message')
      forward(client, upstream, (frame, index) => this.toServer(frame, index), early)
      forward(upstream, client, (frame, index) => this.toClient(frame, index), [])
    })
    upstream.once('close', () => client.close())
    client.once('close', () => upstream.close())
  }
}

function forward(from: WebSocket, to: WebSocket, meddle: Meddle, early: readonly Buffer[]): void {
  let count = 0
  const handle = (data: Buffer): void => {
    for (const frame of meddle(new Uint8Array(data), count++)) to.send(frame)
  }
  for (const data of early) handle(data)
  from.on('message', handle)
}
