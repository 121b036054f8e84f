import { networkOf, Shares } from '@runnel/protocol'

export interface AdmissionLimits {
  /**
   * Inbound connections, handshakes included. Beyond it, the newest of the network (/24, for IPv6 /48) with the most is
   * closed. Dials are refused while open inbound and outbound connections together reach it.
   */
  readonly maxConnections: number
  /** Inbound connections that have not proven their peer; beyond it, the newest of the network with the most is closed. */
  readonly maxPendingHandshakes: number
}

/** The place of one inbound connection. */
export interface Place {
  /** Called when it has to make room. */
  onEvicted: () => void
}

/** Shares the places of inbound connections and handshakes out between the networks that they come from. */
export class Admission {
  readonly #handshakes: Shares<Place>
  readonly #connections: Shares<Place>

  constructor(limits: AdmissionLimits) {
    this.#handshakes = new Shares({ max: limits.maxPendingHandshakes, evict: 'newest' })
    this.#connections = new Shares({ max: limits.maxConnections, evict: 'newest' })
  }

  /** A place for a handshake from this address; undefined when there is none. Others may lose theirs. */
  enter(address: string): Place | undefined {
    const place: Place = { onEvicted() {} }
    for (const shares of [this.#handshakes, this.#connections]) {
      for (const evicted of shares.add(place, networkOf(address))) {
        this.leave(evicted)
        evicted.onEvicted()
        if (evicted === place) return undefined
      }
    }
    return place
  }

  /** The handshake is done, and the connection stays. */
  proven(place: Place): void {
    this.#handshakes.delete(place)
  }

  /** The connection is gone, or never came about. Calling it again does nothing. */
  leave(place: Place): void {
    this.#handshakes.delete(place)
    this.#connections.delete(place)
  }
}
