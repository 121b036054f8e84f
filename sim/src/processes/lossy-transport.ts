import type { SignalledTransport } from '@runnel/network'
import type { Cancel, IceServer, Random, Signal } from '@runnel/protocol'
import type { Connection, DialRequest, Transport } from '@runnel/transport'

export interface LossyModules<T extends Transport> {
  readonly transport: T
  readonly random: Random
}

/** A transport whose connections to nodes lose packets as if they had been sent. Those to trackers lose none. */
export class LossyTransport<T extends Transport = Transport> implements Transport {
  readonly kind
  onInbound: (connection: Connection) => void = () => {}
  protected readonly transport: T
  readonly #lossRate: number
  readonly #random: Random

  constructor({ lossRate }: { readonly lossRate: number }, { transport, random }: LossyModules<T>) {
    this.kind = transport.kind
    this.transport = transport
    this.#lossRate = lossRate
    this.#random = random
  }

  get url(): string {
    return this.transport.url
  }

  start(): Promise<void> {
    this.transport.onInbound = (connection) => this.onInbound(this.#losing(connection))
    return this.transport.start()
  }

  stop(): Promise<void> {
    return this.transport.stop()
  }

  dial(request: DialRequest): Cancel {
    const onOpen = (connection: Connection): void => request.onOpen(this.#losing(connection))
    return this.transport.dial({ ...request, onOpen, onFail: (error) => request.onFail(error) })
  }

  #losing(connection: Connection): Connection {
    if (connection.peerRole === 'tracker') return connection
    const send = connection.send.bind(connection)
    connection.send = (packet) => this.#random.next() < this.#lossRate || send(packet)
    return connection
  }
}

/** The same for WebRTC. */
export class LossySignalledTransport
  extends LossyTransport<SignalledTransport>
  implements SignalledTransport
{
  handleSignal(signal: Signal): void {
    this.transport.handleSignal(signal)
  }

  setIceServers(servers: readonly IceServer[]): void {
    this.transport.setIceServers(servers)
  }
}
