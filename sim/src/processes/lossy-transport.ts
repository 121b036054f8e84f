import type { Cancel, IceServer, Random, Signal } from '@runnel/protocol'
import type { Connection, DialRequest, Transport } from '@runnel/transport'

export interface LossyModules {
  readonly transport: Transport
  readonly random: Random
}

/** A transport whose connections to nodes lose packets as if they had been sent. Those to trackers lose none. */
export class LossyTransport implements Transport {
  readonly kind
  onInbound: (connection: Connection) => void = () => {}
  readonly #transport: Transport
  readonly #lossRate: number
  readonly #random: Random

  constructor({ lossRate }: { readonly lossRate: number }, { transport, random }: LossyModules) {
    this.kind = transport.kind
    this.#transport = transport
    this.#lossRate = lossRate
    this.#random = random
  }

  get addresses(): readonly string[] {
    return this.#transport.addresses
  }

  canDial(url: string): boolean {
    return this.#transport.canDial(url)
  }

  start(): Promise<void> {
    this.#transport.onInbound = (connection) => this.onInbound(this.#losing(connection))
    return this.#transport.start()
  }

  stop(): Promise<void> {
    return this.#transport.stop()
  }

  dial(request: DialRequest): Cancel {
    const onOpen = (connection: Connection): void => request.onOpen(this.#losing(connection))
    return this.#transport.dial({ ...request, onOpen, onFail: (error) => request.onFail(error) })
  }

  handleSignal(signal: Signal): void {
    this.#transport.handleSignal?.(signal)
  }

  setIceServers(servers: readonly IceServer[]): void {
    this.#transport.setIceServers?.(servers)
  }

  #losing(connection: Connection): Connection {
    if (connection.peerRole === 'tracker') return connection
    const send = connection.send.bind(connection)
    connection.send = (packet) => this.#random.next() < this.#lossRate || send(packet)
    return connection
  }
}
