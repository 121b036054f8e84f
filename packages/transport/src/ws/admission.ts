export interface AdmissionLimits {
  /** Connections, dials and handshakes together. */
  readonly maxConnections: number
  /** Inbound connections that have not proven their peer. */
  readonly maxPendingHandshakes: number
  /** The same, of one remote address. */
  readonly maxPendingHandshakesPerAddress: number
}

/** Counts inbound handshakes, and says whether there may be one more. */
export class Admission {
  readonly #limits: AdmissionLimits
  readonly #pendingOfAddress = new Map<string, number>()
  #pending = 0

  constructor(limits: AdmissionLimits) {
    this.#limits = limits
  }

  /** Why there may not be one more from this address, with so many connections in all; undefined when there may. */
  refusal(address: string, connections: number): string | undefined {
    const { maxConnections, maxPendingHandshakes, maxPendingHandshakesPerAddress } = this.#limits
    if (connections >= maxConnections) return 'too many connections'
    if (this.#pending >= maxPendingHandshakes) return 'too many handshakes'
    if ((this.#pendingOfAddress.get(address) ?? 0) >= maxPendingHandshakesPerAddress) {
      return 'too many handshakes from this address'
    }
    return undefined
  }

  /** Counts a handshake; the result takes it off. Calling that again does nothing. */
  enter(address: string): () => void {
    this.#pending++
    this.#pendingOfAddress.set(address, (this.#pendingOfAddress.get(address) ?? 0) + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      this.#pending--
      const others = (this.#pendingOfAddress.get(address) ?? 0) - 1
      if (others > 0) this.#pendingOfAddress.set(address, others)
      else this.#pendingOfAddress.delete(address)
    }
  }
}
