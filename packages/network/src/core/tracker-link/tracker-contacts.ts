import type { NodeId } from '@runnel/protocol'
import type { TrackerAddress } from '../../ports.ts'
import { TrackerContact, type TrackerContactLimits } from './tracker-contact.ts'
import type { Way } from './way.ts'

export interface TrackerContactsLimits extends TrackerContactLimits {
  readonly trackerLingerMs: number
}

/** The ways to trackers that are needed now, or were a moment ago. */
export class TrackerContacts {
  readonly #limits: TrackerContactsLimits
  readonly #contacts = new Map<string, TrackerContact>()
  /** The number of users of each. */
  readonly #users = new Map<TrackerContact, number>()

  constructor(limits: TrackerContactsLimits) {
    this.#limits = limits
  }

  [Symbol.iterator](): IterableIterator<TrackerContact> {
    return this.#contacts.values()
  }

  get dueMs(): number {
    let dueMs = Infinity
    for (const contact of this) {
      if (contact.unneededSinceMs !== undefined)
        dueMs = Math.min(dueMs, contact.unneededSinceMs + this.#limits.trackerLingerMs)
      else if (contact.isClosed) dueMs = Math.min(dueMs, contact.retryAtMs)
    }
    return dueMs
  }

  get hasOpen(): boolean {
    for (const contact of this) if (contact.isOpen) return true
    return false
  }

  get(way: Way): TrackerContact | undefined {
    return this.#contacts.get(way.key)
  }

  find(way: Way, nowMs: number): TrackerContact {
    const known = this.get(way)
    if (known !== undefined) return known
    const contact = new TrackerContact(way, this.#limits, nowMs)
    contact.unneededSinceMs = nowMs
    this.#contacts.set(way.key, contact)
    return contact
  }

  /** The ways to a tracker, direct or by circuit. */
  to(trackerId: NodeId): TrackerContact[] {
    return [...this].filter((contact) => contact.trackerId === trackerId)
  }

  /** The way by which a tracker is connected, unless that is a URL it no longer has. */
  openTo({ nodeId, url }: TrackerAddress): TrackerContact | undefined {
    return this.to(nodeId).find(({ isOpen, isCircuit, way }) => isOpen && (isCircuit || way.url === url))
  }

  /** A user switches from `before` to `after`. */
  exchange(before: readonly TrackerContact[], after: readonly TrackerContact[], nowMs: number): void {
    for (const contact of after) {
      this.#users.set(contact, (this.#users.get(contact) ?? 0) + 1)
      contact.unneededSinceMs = undefined
    }
    for (const contact of before) {
      const left = (this.#users.get(contact) ?? 1) - 1
      if (left > 0) this.#users.set(contact, left)
      else if (this.#users.delete(contact)) contact.unneededSinceMs = nowMs
    }
  }

  /** Forgets ways that were unused for long. */
  removeUnneeded(nowMs: number): TrackerContact[] {
    const removed = [...this].filter(
      ({ unneededSinceMs = Infinity }) => unneededSinceMs + this.#limits.trackerLingerMs <= nowMs,
    )
    for (const { way } of removed) this.#contacts.delete(way.key)
    return removed
  }
}
