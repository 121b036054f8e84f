import type { Clock, RunnelError } from '@runnel/protocol'
import type { LinksOwner } from '@runnel/transport'
import type { Counters } from '../core/counters.ts'
import type { Owner } from '../core/effects.ts'
import { networkError } from '../errors.ts'
import type { NodeFault } from '../ports.ts'
import type { Listeners } from './listeners.ts'
import type { TrackerConnections } from './tracker-connections.ts'

export interface FaultsModules {
  readonly clock: Clock
  readonly counters: Counters
  readonly listeners: Listeners
  readonly links: Pick<LinksOwner, 'disconnect'>
  readonly trackers: Pick<TrackerConnections, 'refuse'>
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Counts and reports what work threw, and ends the connection that it was for. */
export class Faults {
  readonly #pauseMs: number
  readonly #modules: FaultsModules
  /** After a fault without a known owner, nothing is done by timer before this time. */
  #pausedUntilMs = -Infinity

  constructor(options: { readonly faultPauseMs: number }, modules: FaultsModules) {
    this.#pauseMs = options.faultPauseMs
    this.#modules = modules
  }

  get pausedUntilMs(): number {
    return this.#pausedUntilMs
  }

  /**
   * Reports a fault of a stream part, or of the peer that is disconnected. Without an owner it may come again at once, so
   * what is due waits.
   */
  report({ streamPartId, peerId, way }: Owner, error: unknown): void {
    if (streamPartId !== undefined) return this.#tell({ streamPartId, error })
    const { counters, links, trackers, clock } = this.#modules
    const ended = peerId ?? way?.trackerId
    counters[ended === undefined ? 'fault.other' : 'fault.connection']++
    this.#tell({ ...(ended !== undefined && { peerId: ended }), error })
    try {
      if (peerId !== undefined) links.disconnect(peerId, 'INTERNAL_ERROR', 'a fault')
      else if (way !== undefined) trackers.refuse(way, faultHere())
    } catch {
      // Only the first fault is reported.
    }
    if (ended === undefined) this.#pausedUntilMs = clock.monotonicMs() + this.#pauseMs
  }

  /** What a callback of a connection threw; the connection was closed. */
  ofConnection(error: unknown): void {
    this.#modules.counters['fault.connection']++
    this.#tell({ error })
  }

  /** On a stack of its own: what the listener throws is for its owner. */
  tellOfError(error: unknown): void {
    this.#modules.clock.endOfTurn(() => this.#modules.onError?.(error))
  }

  #tell(fault: NodeFault): void {
    this.#modules.listeners.emit('fault', fault)
    this.tellOfError(fault.error)
  }
}

function faultHere(): RunnelError {
  return networkError('TRACKER_LOST', 'there was a fault in what it was for')
}
