import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A proxy between a client and a server that simulates network faults. */
export class TcpProxy {
  readonly #server: Server
  readonly #links = new Set<{ readonly client: Socket; readonly upstream: Socket }>()
  readonly #bytesPerMs: number
  #flows = { toServer: true, toClient: true }

  private constructor(server: Server, bytesPerMs: number) {
    this.#server = server
    this.#bytesPerMs = bytesPerMs
  }

  /** @param bytesPerMs what a link carries in each direction */
  static async to(port: number, bytesPerMs = Infinity): Promise<TcpProxy> {
    const server = createServer()
    const proxy = new TcpProxy(server, bytesPerMs)
    server.on('connection', (client) => proxy.#join(client, connect(port, '127.0.0.1')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  #join(client: Socket, upstream: Socket): void {
    const link = { client, upstream }
    this.#links.add(link)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.setNoDelay()
      // Forwards by hand rather than by pipe, which would resume what was paused when the other side drains.
      from.on('data', (bytes) => {
        if (!to.write(bytes)) from.pause()
        else if (this.#bytesPerMs < Infinity) this.#pause(from, bytes.length / this.#bytesPerMs)
      })
      from.on('drain', () => this.#mayFlow(to === upstream) && to.resume())
      from.on('error', () => {})
      from.on('close', () => {
        to.destroy()
        this.#links.delete(link)
      })
    }
    this.#apply()
  }

  #pause(from: Socket, forMs: number): void {
    from.pause()
    setTimeout(() => from.resume(), forMs)
  }

  #mayFlow(fromServer: boolean): boolean {
    return fromServer ? this.#flows.toClient : this.#flows.toServer
  }

  /** Which directions pass; what does not pass queues at its sender. */
  flow(flows: { readonly toServer: boolean; readonly toClient: boolean }): void {
    this.#flows = flows
    this.#apply()
  }

  #apply(): void {
    for (const { client, upstream } of this.#links) {
      if (this.#flows.toServer) client.resume()
      else client.pause()
      if (this.#flows.toClient) upstream.resume()
      else upstream.pause()
    }
  }

  /** Breaks all links; new ones can be opened. */
  cut(): void {
    for (const { client, upstream } of this.#links) {
      client.resetAndDestroy()
      upstream.resetAndDestroy()
    }
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const { client, upstream } of this.#links) {
      client.destroy()
      upstream.destroy()
    }
    await closed
  }
}
