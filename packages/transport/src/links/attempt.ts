import type { Cancel, Clock, Contact, NodeId, RunnelError } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import type { Connection, DialRequest, Transport } from '../ports.ts'
import type { Way } from './link-plan.ts'
import type { LinksSettings } from './links-options.ts'

export interface AttemptOptions extends Pick<DialRequest, 'first'> {
  readonly peerId: NodeId
  /** The input of the plan. */
  readonly contact: Contact
  readonly ways: readonly Way[]
  readonly settings: Pick<LinksSettings, 'dialTimeoutMs' | 'firstWayTimeoutMs'>
}

export interface AttemptModules {
  readonly clock: Clock
  readonly transports: ReadonlyMap<string, Transport>
}

export interface AttemptEvents {
  /** A dial of ours succeeded; the attempt is over. */
  onOpen(connection: Connection): void
  /** The last way has failed, or the peer did not dial; the attempt is over. */
  onFail(error: RunnelError): void
  onFallback(): void
}

/** One pass through the ways to a peer: dials one after the other, or waits as long as that may take. */
export class Attempt {
  readonly options: AttemptOptions
  readonly #modules: AttemptModules
  readonly #events: AttemptEvents
  /** True while no link has come about otherwise, so that the outcome still matters. */
  wanted = true
  #cancel: Cancel = () => {}
  #isOver = false

  constructor(options: AttemptOptions, modules: AttemptModules, events: AttemptEvents) {
    this.options = options
    this.#modules = modules
    this.#events = events
  }

  start(): void {
    const { ways } = this.options
    const [first] = ways
    if (first?.role === 'dial') return this.#dial(0)
    const limitMs = ways.reduce((sum, _, index) => sum + this.#limitMs(index), 0)
    this.#cancel = this.#modules.clock.schedule(limitMs, () =>
      this.#fail(
        first
          ? transportError('DIAL_TIMEOUT', 'the peer did not dial')
          : transportError('NO_COMMON_TRANSPORT'),
      ),
    )
  }

  /** Whether a dial is under way. When a link comes about otherwise, the dial is left to end. */
  get isDialling(): boolean {
    return !this.#isOver && this.options.ways[0]?.role === 'dial'
  }

  cancel(): void {
    this.#isOver = true
    this.#cancel()
  }

  #dial(index: number): void {
    const { peerId, ways, first } = this.options
    const way = ways[index]
    const transport = way && this.#modules.transports.get(way.kind)
    if (!transport) return this.#fail(transportError('NO_COMMON_TRANSPORT'))
    try {
      this.#cancel = transport.dial({
        peerId,
        ...(way.address === '' ? {} : { url: way.address, isTold: true }),
        timeoutMs: this.#limitMs(index),
        first,
        onOpen: (connection) => {
          this.#isOver = true
          this.#events.onOpen(connection)
        },
        onFail: (error) => {
          if (!this.wanted || index + 1 >= ways.length) return this.#fail(error)
          this.#events.onFallback()
          this.#dial(index + 1)
        },
      })
    } catch (error) {
      // The fault is told to whoever called; the attempt would otherwise never end.
      this.#fail(transportError('DIAL_FAILED', `${way.kind} threw`, { cause: error }))
      throw error
    }
  }

  #limitMs(index: number): number {
    const { dialTimeoutMs, firstWayTimeoutMs } = this.options.settings
    return index + 1 < this.options.ways.length ? Math.min(firstWayTimeoutMs, dialTimeoutMs) : dialTimeoutMs
  }

  #fail(error: RunnelError): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#events.onFail(error)
  }
}
