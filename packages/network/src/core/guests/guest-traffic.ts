import type { NodeId } from '@runnel/protocol'

export interface GuestTrafficLimits {
  readonly maxGuestBytesPerS: number
  readonly guestWindowMs: number
}

/** What one network of addresses took in the current window. */
interface Taken {
  bytes: number
  readonly byGuest: Map<NodeId, number>
}

/**
 * What guests are sent, together and in windows. When it is too much, the guest that took most in the network that took most has to
 * go, so that with n networks each can have one nth.
 */
export class GuestTraffic {
  readonly #limits: GuestTrafficLimits
  readonly #networks = new Map<string, Taken>()
  #bytes = 0
  #endsMs = -Infinity

  constructor(limits: GuestTrafficLimits) {
    this.#limits = limits
  }

  /** A guest is sent so many bytes. Returns the guests that have to go for it, mostly one, and mostly another. */
  take(
    guest: { readonly peerId: NodeId; readonly network: string },
    bytes: number,
    nowMs: number,
  ): readonly NodeId[] {
    const { maxGuestBytesPerS, guestWindowMs } = this.#limits
    if (nowMs >= this.#endsMs) {
      this.#networks.clear()
      this.#bytes = 0
      this.#endsMs = nowMs + guestWindowMs
    }
    let taken = this.#networks.get(guest.network)
    if (taken === undefined) this.#networks.set(guest.network, (taken = { bytes: 0, byGuest: new Map() }))
    taken.bytes += bytes
    taken.byGuest.set(guest.peerId, (taken.byGuest.get(guest.peerId) ?? 0) + bytes)
    this.#bytes += bytes
    const dropped: NodeId[] = []
    while (this.#bytes > (maxGuestBytesPerS * guestWindowMs) / 1_000) dropped.push(...this.#dropHeaviest())
    return dropped
  }

  /** Its bytes count no more: what others take now has room. */
  #dropHeaviest(): readonly NodeId[] {
    const [heaviest] = [...this.#networks.values()].sort((a, b) => b.bytes - a.bytes)
    const [guest] = [...(heaviest?.byGuest ?? [])].sort(([, a], [, b]) => b - a)
    if (heaviest === undefined || guest === undefined) return []
    const [peerId, bytes] = guest
    heaviest.byGuest.delete(peerId)
    heaviest.bytes -= bytes
    this.#bytes -= bytes
    return [peerId]
  }
}
