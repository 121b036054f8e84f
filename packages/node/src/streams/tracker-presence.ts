import type { NetworkNode } from '@runnel/network'
import { isRunnelError, toStreamId, toStreamPartId, type Cancel, type Clock } from '@runnel/protocol'

export interface TrackerPresenceModules {
  readonly network: Pick<NetworkNode, 'nodeId' | 'streamParts' | 'findStorage'>
  readonly clock: Pick<Clock, 'schedule'>
}

/**
 * Keeps a node that is in no stream part connected to a tracker, so that it is seen from the start whether it gets through. It asks the
 * tracker of a stream part of its own who stores that: nobody.
 */
export class TrackerPresence {
  readonly #everyMs: number
  readonly #modules: TrackerPresenceModules
  readonly #ended = new AbortController()
  #cancel: Cancel | undefined

  constructor(options: { readonly everyMs: number }, modules: TrackerPresenceModules) {
    this.#everyMs = options.everyMs
    this.#modules = modules
  }

  /** Idempotent. */
  start(): void {
    if (this.#cancel === undefined) void this.#ask()
  }

  /** Idempotent. */
  stop(): void {
    this.#cancel?.()
    this.#ended.abort()
  }

  async #ask(): Promise<void> {
    const { network, clock } = this.#modules
    this.#cancel = () => {}
    const { signal } = this.#ended
    if (network.streamParts.length === 0) {
      const part = toStreamPartId(toStreamId(`${network.nodeId}/presence`), 0)
      // That none answers is what the connection's own events say.
      await network.findStorage(part, signal).catch((error: unknown) => {
        if (!isRunnelError(error) && !signal.aborted) throw error
      })
    }
    if (!signal.aborted) this.#cancel = clock.schedule(this.#everyMs, () => void this.#ask())
  }
}
