import { verifyRelayConsent, type Crypto, type NodeId, type NodeInfo } from '@runnel/protocol'
import type { Connection } from '@runnel/transport'
import { RelayedConnection } from '../cluster/relay-server.ts'
import { TokenBucket } from '../core/timing/token-bucket.ts'

/** Bounds of what trackers that relay nodes make this one check. @documented */
export const relayConsentLimits = {
  /** Signatures checked for nodes that one tracker relays, on average; what comes above that is offered again later. */
  consentsPerSecond: 200,
  /** And how many at once: enough for all the nodes that it may relay. */
  consentBurst: 10_000,
  /** Trackers of which that is counted. */
  maxRelays: 64,
} as const

/** What became of a node info that another tracker relays. */
export type ConsentOutcome = 'taken' | 'known' | 'unsigned' | 'too many'

/**
 * Which trackers may speak for which nodes. A node signs for each tracker that it is connected to, once a session; what another
 * tracker relays counts only with that, and of two ways to a node the one that it signed for last counts for more.
 */
export class RelayConsents {
  readonly #crypto: Crypto
  /** Since when a connection speaks for its node, in Unix milliseconds, as the node signed, or said itself. */
  readonly #sessions = new WeakMap<Connection, number>()
  readonly #checks = new Map<NodeId, TokenBucket>()

  constructor(modules: { readonly crypto: Crypto }) {
    this.#crypto = modules.crypto
  }

  /** What the node says itself needs no signature. */
  direct(connection: Connection, { consent }: NodeInfo): void {
    if (consent !== undefined) this.#sessions.set(connection, consent.sessionMs)
  }

  relayed(connection: RelayedConnection, { consent, contact }: NodeInfo, now: number): ConsentOutcome {
    const { peerId: nodeId, relay, hops } = connection
    if (consent === undefined || (consent.trackerId !== relay && hops <= 1)) return 'unsigned'
    if (consent.sessionMs <= (this.#sessions.get(connection) ?? -Infinity)) return 'known'
    if (!this.#mayCheck(relay, now)) return 'too many'
    if (!verifyRelayConsent(consent, { nodeId, contact }, this.#crypto)) return 'unsigned'
    this.#sessions.set(connection, consent.sessionMs)
    return 'taken'
  }

  /** Whether a node has signed that this connection speaks for it; a direct one always does. */
  speaks(connection: Connection): boolean {
    return !(connection instanceof RelayedConnection) || this.#sessions.has(connection)
  }

  /** Whether a relayed connection counts for less than the node's own: the node has not signed for it since. */
  isOutranked(connection: Connection, main: Connection | undefined): boolean {
    if (!(connection instanceof RelayedConnection)) return false
    if (main === undefined || main instanceof RelayedConnection) return false
    return (this.#sessions.get(main) ?? -Infinity) >= (this.#sessions.get(connection) ?? -Infinity)
  }

  #mayCheck(relay: NodeId, now: number): boolean {
    const { consentsPerSecond: perSecond, consentBurst: burst, maxRelays } = relayConsentLimits
    const bucket = this.#checks.get(relay) ?? new TokenBucket({ perSecond, burst }, now)
    this.#checks.delete(relay)
    this.#checks.set(relay, bucket)
    for (const oldest of this.#checks.keys()) {
      if (this.#checks.size <= maxRelays) break
      this.#checks.delete(oldest)
    }
    return bucket.take(now)
  }
}
