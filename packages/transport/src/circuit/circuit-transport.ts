import {
  circuitUrl,
  isContactUrl,
  waitingUrl,
  type Cancel,
  type IceServer,
  type RunnelError,
} from '@runnel/protocol'
import { ConnectionPool, type PooledChannel } from '../connection/connection-pool.ts'
import type { ConnectionModules } from '../connection/modules.ts'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import { addressOfUrl } from '../ws/socket-address.ts'
import { ToldDial, type ToldDialOptions } from '../ws/told-dial.ts'
import type { ToldDials } from '../ws/told-dials.ts'
import { webSocketSchemes } from '../ws/ws-options.ts'
import { answerTimeoutMs, maxCarrierRestMs, maxCarriers } from './limits.ts'
import { WaitingPlace, type OpeningPlace } from './waiting-place.ts'

export interface CircuitOptions {
  /** Whether this node waits at a carrier, so that others find it: one that cannot be dialled itself. */
  readonly waits: boolean
  /** URLs of carriers, `wss://host:port`, in addition to those that trackers name. */
  readonly carriers?: readonly string[]
  readonly maxConnections?: number
}

/** Opens a WebSocket of the platform, if `told` lets it. Neither is called before it returns. */
export type OpenSocket = (
  options: { readonly url: string; readonly told: ToldDial },
  onChannel: (channel: PooledChannel) => void,
  onFail: (error: RunnelError) => void,
) => Cancel

export interface CircuitModules extends ConnectionModules {
  readonly openSocket: OpenSocket
  readonly toldDials: ToldDials
}

/** Limit on links over circuits, both ways, unless the options say otherwise. */
const maxCircuitLinks = 64
/** Time limit for one dial, handshake included, in milliseconds. */
const circuitDialTimeoutMs = 15_000

/**
 * Links over circuits: WebSockets that a third node, which both can reach, joins. For nodes that have no other way to each
 * other, such as behind firewalls that let out nothing but TCP to port 443. The address of a node is the URL of the carrier where
 * it waits.
 */
export class CircuitTransport implements Transport {
  readonly kind = 'circuit'
  onInbound: (connection: Connection) => void = () => {}
  onAddresses: () => void = () => {}
  readonly #options: CircuitOptions
  readonly #modules: CircuitModules
  readonly #pool: ConnectionPool<PooledChannel>
  readonly #place: WaitingPlace
  /** Circuits on which nobody has spoken yet. */
  readonly #silent = new Set<PooledChannel>()
  /** Carriers named by all trackers, the latest first. */
  #named: readonly string[] = []
  #running = false

  constructor(options: CircuitOptions, modules: CircuitModules) {
    this.#options = options
    this.#modules = modules
    const { maxConnections = maxCircuitLinks } = options
    const pool = { role: 'node', dialTimeoutMs: circuitDialTimeoutMs, maxConnections } as const
    this.#pool = new ConnectionPool(pool, modules)
    this.#place = new WaitingPlace({
      ...modules,
      open: (url, onChannel, onFail) => this.#openPlace(url, onChannel, onFail),
      onCircuit: (channel, url) => this.#accept(channel, url),
      onChange: () => this.onAddresses(),
    })
  }

  get addresses(): readonly string[] {
    return this.#place.url === '' ? [] : [this.#place.url]
  }

  async start(): Promise<void> {
    if (this.#running) return
    this.#running = true
    this.#seek()
    if (this.#options.waits) this.#place.start()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#place.stop()
    for (const channel of [...this.#silent]) channel.close(true)
    await this.#pool.stop()
  }

  /**
   * Trackers name carriers among the servers that help to open links: those with URLs of WebSockets. They are added to those
   * that other trackers have named.
   */
  setIceServers(servers: readonly IceServer[]): void {
    this.#named = carriersOf([...servers.map(({ url }) => url), ...this.#named])
    this.#seek()
  }

  canDial(): boolean {
    return false
  }

  dial(request: DialRequest): Cancel {
    const { url = '', peerId } = request
    let told: ToldDial | undefined
    return this.#pool.dial(request, {
      running: this.#running,
      address: addressOfUrl(url),
      connect: (onChannel, onFail) => {
        const path = URL.canParse(url) && peerId !== undefined ? circuitUrl(url, [peerId]) : url
        const onJoined = (channel: PooledChannel): void => {
          // Where this node waits too there is a carrier: what still fails is the fault of the node behind it.
          if (addressOfUrl(url) === addressOfUrl(this.#place.url)) {
            told?.done('open', undefined)
            told = undefined
          }
          onChannel(channel)
        }
        return this.#open(url, path, onJoined, onFail, (dial) => (told = dial))
      },
      onDone: (outcome, error) => told?.done(outcome, error),
    })
  }

  #seek(): void {
    this.#place.seek(carriersOf([...(this.#options.carriers ?? []), ...this.#named]))
  }

  #openPlace(url: string, onChannel: (channel: PooledChannel) => void, onFail: () => void): OpeningPlace {
    let told: ToldDial | undefined
    const failed = (error: RunnelError): void => {
      // That says nothing of the carrier.
      if (error.code === 'OFFLINE') told = undefined
      onFail()
    }
    const onTold = (dial: ToldDial) => (told = dial)
    // Nobody told this node of those that it is set up with.
    const isTold = this.#options.carriers?.includes(url) !== true
    const options = { isTold, maxRestMs: maxCarrierRestMs }
    const cancel = this.#open(url, waitingUrl(url), onChannel, failed, onTold, options)
    const tried = (isCarrier: boolean): void => {
      told?.done(isCarrier ? 'open' : 'failed', undefined)
      told = undefined
    }
    return { cancel, tried }
  }

  #open(
    base: string,
    url: string,
    onChannel: (channel: PooledChannel) => void,
    onFail: (error: RunnelError) => void,
    onTold: (told: ToldDial) => void,
    options: ToldDialOptions = { isTold: true },
  ): Cancel {
    if (!isContactUrl(base, webSocketSchemes)) {
      const error = transportError('DIAL_FAILED', `not the URL of a carrier: ${JSON.stringify(base)}`)
      this.#modules.clock.endOfTurn(() => onFail(error))
      return () => {}
    }
    const told = new ToldDial(options, new URL(base), this.#modules.toldDials)
    onTold(told)
    return this.#modules.openSocket({ url, told }, onChannel, onFail)
  }

  /** Whoever is there speaks first: before, the carrier may not have joined the two. */
  #accept(channel: PooledChannel, url: string): void {
    const { maxConnections = maxCircuitLinks } = this.#options
    if (!this.#running || this.#pool.size + this.#silent.size >= maxConnections)
      return void channel.close(true)
    this.#silent.add(channel)
    const cancelTimer = this.#modules.clock.schedule(answerTimeoutMs, () => channel.close(true))
    const silenceEnds = (): void => {
      cancelTimer()
      this.#silent.delete(channel)
    }
    channel.events = {
      onFrame: (frame) => {
        silenceEnds()
        this.#pool.accept(channel, {
          onOpen: (connection) => this.onInbound(connection),
          onFail: () => {},
          isOwnAddress: (address) => address === addressOfUrl(url),
        })
        channel.events.onFrame(frame)
      },
      onDrain: () => {},
      onClose: silenceEnds,
    }
  }
}

/** The first of them, without what is no URL of a carrier. */
function carriersOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.filter((url) => isContactUrl(url, webSocketSchemes)))].slice(0, maxCarriers)
}
