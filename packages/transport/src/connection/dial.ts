import type { Cancel, LinkRole, RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest } from '../ports.ts'
import type { Channel } from './channel.ts'
import { Handshake } from './handshake.ts'
import { guarded, type ConnectionModules } from './modules.ts'
import { openConnection } from './open-connection.ts'

/** Opens a raw channel. Exactly one of the two is called, later; neither after the result was called. */
export type Connect<C extends Channel> = (
  onChannel: (channel: C) => void,
  onFail: (error: RunnelError) => void,
) => Cancel

export interface DialOptions<C extends Channel> {
  readonly request: DialRequest
  readonly role: LinkRole
  readonly timeoutMs: number
  readonly connect: Connect<C>
  /** See HandshakeOptions. */
  readonly address?: string
}

export type DialOutcome = 'open' | 'failed' | 'cancelled'

export interface DialModules<C extends Channel> {
  readonly connection: ConnectionModules
  /** The connection is open; the caller is told afterwards. */
  onOpen(connection: Connection, channel: C): void
  /** The dial has ended, with or without success. */
  onDone(outcome: DialOutcome, error?: RunnelError): void
}

/** One attempt to connect: channel and handshake under one time limit. */
export class Dial<C extends Channel> {
  readonly #options: DialOptions<C>
  readonly #modules: DialModules<C>
  #outcome: DialOutcome | undefined
  #cancelTimeout: Cancel = () => {}
  /** Undoes the current step. */
  #cancelStep: Cancel = () => {}

  constructor(options: DialOptions<C>, modules: DialModules<C>) {
    this.#options = options
    this.#modules = modules
  }

  start(): void {
    const { timeoutMs, connect } = this.#options
    this.#cancelTimeout = this.#modules.connection.clock.schedule(timeoutMs, () =>
      this.fail(transportError('DIAL_TIMEOUT', `${timeoutMs} ms`)),
    )
    this.#cancelStep = connect(
      (channel) => this.#openOn(channel),
      (error) => this.#report(error),
    )
  }

  #openOn(channel: C): void {
    const { request, role, address = '' } = this.#options
    const { connection: modules, onOpen } = this.#modules
    const handshake = new Handshake(
      { channel, direction: 'outbound', expectedPeerId: request.peerId, role, address },
      modules,
    )
    this.#cancelStep = openConnection(
      { channel, handshake },
      request.limits === undefined
        ? modules
        : { ...modules, limits: { ...modules.limits, ...request.limits } },
      {
        onOpen: (connection) => {
          this.#finish('open')
          onOpen(connection, channel)
          request.onOpen(connection)
        },
        onFail: (error) => this.#report(error),
      },
    )
  }

  /** Gives up without telling the caller. */
  cancel(): void {
    if (this.#finish('cancelled')) this.#cancelStep()
  }

  /** Gives up and tells the caller why. */
  fail(error: RunnelError): void {
    if (this.#outcome !== undefined) return
    this.#cancelStep()
    this.#report(error)
  }

  #report(error: RunnelError): void {
    if (this.#finish('failed', error))
      guarded(this.#modules.connection, () => this.#options.request.onFail(error))
  }

  #finish(outcome: DialOutcome, error?: RunnelError): boolean {
    if (this.#outcome !== undefined) return false
    this.#outcome = outcome
    this.#cancelTimeout()
    this.#modules.onDone(outcome, error)
    return true
  }
}
