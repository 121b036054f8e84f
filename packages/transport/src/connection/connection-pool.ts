import { RareSet, type Cancel, type LinkRole, type RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest } from '../ports.ts'
import type { Channel } from './channel.ts'
import { Dial, type Connect, type DialOutcome } from './dial.ts'
import { Handshake } from './handshake.ts'
import type { ConnectionModules } from './modules.ts'
import { openConnection, type OpenHandlers } from './open-connection.ts'

/** A channel that also tells its transport when it is closed. */
export interface PooledChannel extends Channel {
  /** Called after `events.onClose`. */
  onGone: () => void
}

export interface PoolOptions {
  readonly role: LinkRole
  readonly dialTimeoutMs: number
  /** Dials that would exceed it, with open connections, are refused; whoever has proven nothing keeps nobody here from dialling. Default: no limit. */
  readonly maxConnections?: number
}

export interface AcceptHandlers extends OpenHandlers {
  /** See HandshakeOptions. */
  readonly isOwnAddress?: (address: string) => boolean
}

/** All the connections, dials and handshakes of a transport, so that it can count and end them. */
export class ConnectionPool<C extends PooledChannel> {
  readonly #options: PoolOptions
  readonly #modules: ConnectionModules
  readonly #dials = new RareSet<Dial<C>>()
  /** Ends the inbound handshakes. */
  readonly #handshakes = new RareSet<Cancel>()
  /** Open connections, until their channel is closed. */
  readonly #connections = new Map<C, Connection>()
  #onEmpty: () => void = () => {}

  constructor(options: PoolOptions, modules: ConnectionModules) {
    this.#options = options
    this.#modules = modules
  }

  /** Open and closing connections, dials and handshakes. */
  get size(): number {
    return this.#connections.size + this.#dials.size + this.#handshakes.size
  }

  /**
   * Dials over the channel that `connect` opens; fails with SHUTTING_DOWN when the transport does not run, and
   * TOO_MANY_CONNECTIONS.
   */
  dial(
    request: DialRequest,
    how: {
      readonly connect: Connect<C>
      readonly running: boolean
      /** See HandshakeOptions. */
      readonly address?: string
      onDone?(outcome: DialOutcome, error?: RunnelError): void
    },
  ): Cancel {
    const { role, dialTimeoutMs } = this.#options
    const refusal = this.#dialRefusal(how.running)
    const dial: Dial<C> = new Dial(
      { ...how, request, role, timeoutMs: request.timeoutMs ?? dialTimeoutMs },
      {
        connection: this.#modules,
        onOpen: (connection, channel) => this.#add(connection, channel),
        onDone: (outcome, error) => {
          this.#dials.delete(dial)
          how.onDone?.(outcome, error)
        },
      },
    )
    this.#dials.add(dial)
    if (refusal === undefined) dial.start()
    else this.#modules.clock.endOfTurn(() => dial.fail(refusal))
    return () => dial.cancel()
  }

  /** Takes a channel that another node opened. `onFail` is not called when `stop` ends the handshake. */
  accept(channel: C, { onOpen, onFail, isOwnAddress }: AcceptHandlers): void {
    const { role } = this.#options
    const handshake = new Handshake({ channel, direction: 'inbound', role, isOwnAddress }, this.#modules)
    const cancel = openConnection({ channel, handshake }, this.#modules, {
      onOpen: (connection) => {
        this.#handshakes.delete(cancel)
        this.#add(connection, channel)
        onOpen(connection)
      },
      onFail: (error) => {
        this.#handshakes.delete(cancel)
        onFail(error)
      },
    })
    this.#handshakes.add(cancel)
  }

  #dialRefusal(running: boolean): RunnelError | undefined {
    const { maxConnections = Infinity } = this.#options
    if (!running) return transportError('SHUTTING_DOWN', 'the transport does not run')
    if (this.#connections.size + this.#dials.size >= maxConnections)
      return transportError('TOO_MANY_CONNECTIONS', `${maxConnections}`)
    return undefined
  }

  #add(connection: Connection, channel: C): void {
    this.#connections.set(channel, connection)
    channel.onGone = () => {
      this.#connections.delete(channel)
      if (this.#connections.size === 0) this.#onEmpty()
    }
  }

  /** Ends everything with SHUTTING_DOWN; resolves when the last channel is closed. */
  async stop(): Promise<void> {
    for (const cancel of this.#handshakes) cancel()
    this.#handshakes.clear()
    for (const dial of [...this.#dials]) dial.fail(transportError('SHUTTING_DOWN'))
    for (const connection of this.#connections.values()) connection.close('SHUTTING_DOWN', 'this side stops')
    if (this.#connections.size === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#onEmpty
    this.#onEmpty = () => {
      before()
      resolve()
    }
    await promise
  }
}
