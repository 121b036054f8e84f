import { carrierKind, isContactUrl, type Address, type Cancel } from '@runnel/protocol'
import { joinChannels } from '../circuit/join-channels.ts'
import type { Channel } from '../connection/channel.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { connectionLimits, type ConnectionLimits } from '../connection/limits.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import { Admission } from './admission.ts'
import { asDialError, checkedUrl, connectWebSocket } from './connect-web-socket.ts'
import { addressOfUrl } from './socket-address.ts'
import { ToldDial } from './told-dial.ts'
import { ToldDials, type DialModules } from './told-dials.ts'
import { WsChannel } from './ws-channel.ts'
import { WsListener, type InboundCircuit, type InboundSocket } from './ws-listener.ts'
import {
  webSocketDefaults,
  webSocketSchemes,
  type WebSocketCounters,
  type WebSocketOptions,
  type WebSocketSettings,
} from './ws-options.ts'

/** Links over WebSockets. */
export class WebSocketTransport implements Transport {
  readonly kind = 'websocket'
  onInbound: (connection: Connection) => void = () => {}
  readonly counters: WebSocketCounters = {
    opened: 0,
    refused: 0,
    evicted: 0,
    failedHandshakes: 0,
    failedDials: 0,
  }
  readonly #options: WebSocketSettings
  readonly #limits: ConnectionLimits
  readonly #modules: ConnectionModules
  readonly #pool: ConnectionPool<WsChannel>
  readonly #admission: Admission
  readonly #toldDials: ToldDials
  readonly #listener: WsListener | undefined
  /** Circuits that are carried for others. */
  readonly #circuits = new Set<WsChannel>()
  #running = false

  constructor(options: WebSocketOptions, modules: DialModules) {
    this.#options = { ...webSocketDefaults, ...options }
    this.#limits = connectionLimits(modules.limits)
    this.#modules = modules
    this.#pool = new ConnectionPool(this.#options, modules)
    this.#admission = new Admission(this.#options)
    this.#toldDials =
      modules.toldDials ?? new ToldDials({ isInside: options.dialsLocalAddresses }, modules.clock)
    this.#listener = options.listen && this.#createListener(options.listen)
  }

  /** Of the circuits that are carried here. */
  get metrics(): Readonly<Record<string, number>> {
    return this.#options.listen?.circuits?.metrics ?? {}
  }

  get url(): string {
    return this.#listener?.url ?? ''
  }

  get addresses(): readonly string[] {
    return this.url === '' ? [] : [this.url]
  }

  get offers(): readonly Address[] {
    const { circuits } = this.#options.listen ?? {}
    return this.url !== '' && circuits?.wait !== undefined ? [{ kind: carrierKind, text: this.url }] : []
  }

  canDial(url: string): boolean {
    return addressOfUrl(url) !== ''
  }

  /** Throws PORT_IN_USE and LISTEN_FAILED. */
  async start(): Promise<void> {
    if (this.#running) return
    const { role, listen: { publicUrl } = {} } = this.#options
    // Trackers' URLs are in a registry; a node's URL is told to whoever should dial it.
    if (role === 'node' && publicUrl !== undefined && !isContactUrl(publicUrl, webSocketSchemes))
      throw transportError(
        'LISTEN_FAILED',
        `publicUrl must be ws://host:port or wss://host:port: ${publicUrl}`,
      )
    this.#running = true
    try {
      await this.#listener?.start()
    } catch (error) {
      this.#running = false
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#running = false
    for (const channel of this.#circuits) channel.close()
    this.#options.listen?.circuits?.stop?.()
    await Promise.all([this.#listener?.stop(), this.#pool.stop()])
  }

  dial(request: DialRequest): Cancel {
    let told: ToldDial | undefined
    return this.#pool.dial(request, {
      running: this.#running,
      address: addressOfUrl(request.url),
      connect: (onChannel, onFail) => {
        try {
          const url = checkedUrl(request.url)
          const { trustedCertificates, localAddress } = this.#options
          const options = { url, limits: this.#limits, trustedCertificates, localAddress }
          told = new ToldDial(request, url, this.#toldDials)
          return connectWebSocket({ ...options, told }, onChannel, onFail)
        } catch (error) {
          this.#modules.clock.endOfTurn(() => onFail(asDialError(error, request.url)))
          return () => {}
        }
      },
      onDone: (outcome, error) => {
        told?.done(outcome, error)
        if (outcome === 'open') this.counters.opened++
        if (outcome === 'failed') this.counters.failedDials++
      },
    })
  }

  #createListener(listen: NonNullable<WebSocketOptions['listen']>): WsListener {
    const { maxConnections, maxPendingHandshakes } = this.#options
    return new WsListener(listen, {
      limits: this.#limits,
      maxSockets: maxConnections + maxPendingHandshakes,
      onCut: () => this.counters.evicted++,
      enter: (address) => {
        const place = this.#admission.enter(address)
        if (place === undefined) this.counters.refused++
        return place
      },
      leave: (place) => this.#admission.leave(place),
      onSocket: (socket) => this.#onSocket(socket),
      onCircuit: (circuit) => this.#onCircuit(circuit),
      onWaiting: (inbound) => this.#onWaiting(inbound),
    })
  }

  /** The peer proves itself at the other end; here it counts as a connection. */
  #onCircuit({ socket, place, onward, circuits }: InboundCircuit): void {
    const channel = new WsChannel(socket, this.#limits)
    this.#circuits.add(channel)
    this.#admission.proven(place)
    place.onEvicted = () => {
      this.counters.evicted++
      channel.close(true)
    }
    joinChannels<Channel>(channel, onward, {
      maxQueuedBytes: circuits.maxQueuedBytes,
      onClose: () => this.#circuits.delete(channel),
      // Only a carrier paces, and what it gives to join can be paused, as WebSockets can.
      onBytes: circuits.pace?.() as ((from: Channel, bytes: number) => void) | undefined,
    })
  }

  #onWaiting({ socket, address, place, isOwnAddress }: InboundSocket): void {
    const channel = new WsChannel(socket, this.#limits, address)
    place.onEvicted = () => {
      this.counters.evicted++
      channel.close(true)
    }
    this.#options.listen?.circuits?.wait?.({
      ...{ channel, address, isOwnAddress },
      onProven: () => this.#admission.proven(place),
    })
  }

  #onSocket({ socket, address, place, isOwnAddress }: InboundSocket): void {
    const channel = new WsChannel(socket, this.#limits, address)
    const evicted = (close: () => void): void => {
      this.counters.evicted++
      close()
    }
    place.onEvicted = () => evicted(() => channel.close(true))
    this.#pool.accept(channel, {
      onOpen: (connection) => {
        this.#admission.proven(place)
        place.onEvicted = () =>
          evicted(() => connection.close('TOO_MANY_CONNECTIONS', 'another network needs the room'))
        this.counters.opened++
        this.onInbound(connection)
      },
      onFail: () => this.counters.failedHandshakes++,
      isOwnAddress,
    })
  }
}
