import { protocolErrors, type ActingFor, type Cancel } from '@runnel/protocol'
import { transportError } from '../errors.ts'
import { checkedCredential } from './credentials.ts'
import type { Peer } from './handshake.ts'
import type { ConnectionModules } from './modules.ts'
import { RateWindow } from './rate-window.ts'

/** Longest single wait: the wall clock may be set, and timers have a maximum. */
const maxWaitMs = 3_600_000

export interface PeerCredentialModules extends ConnectionModules {
  /** The peer is no longer who it said it was. */
  onExpired(code: 'DELEGATION_EXPIRED', text: string): void
}

const nothing: Cancel = () => {}

/** For whom the peer of an open connection acts, until that ends or is renewed. */
export class PeerCredential {
  readonly #peer: Peer
  readonly #modules: PeerCredentialModules
  readonly #maxPerHour: number
  #renewals: RateWindow | undefined
  #actingFor: ActingFor | undefined
  #cancel: Cancel = nothing

  constructor(
    peer: Peer,
    limits: { readonly maxCredentialsPerHour: number },
    modules: PeerCredentialModules,
  ) {
    this.#peer = peer
    this.#modules = modules
    this.#maxPerHour = limits.maxCredentialsPerHour
    this.#actingFor = peer.actingFor
  }

  /** Undefined where the peer acts for itself. */
  get actingFor(): ActingFor | undefined {
    return this.#actingFor
  }

  /** Waits for the end of the credential. */
  watch(): void {
    this.#cancel()
    const { clock, onExpired } = this.#modules
    const leftMs = (this.#actingFor?.untilMs ?? Infinity) - clock.now()
    if (leftMs === Infinity) return
    if (leftMs <= 0) return onExpired('DELEGATION_EXPIRED', protocolErrors.DELEGATION_EXPIRED.summary)
    this.#cancel = clock.schedule(Math.min(leftMs, maxWaitMs), () => this.watch())
  }

  /** Takes a newer credential of the same user. Throws PROTOCOL_VIOLATION, a DELEGATION_ code, and what decoding throws. */
  renew(body: Uint8Array): void {
    if (this.#actingFor === undefined || !this.#mayRenew())
      throw transportError('PROTOCOL_VIOLATION', 'a credential that is not due')
    const renewed = checkedCredential(this.#peer.nodeId, body, this.#modules)
    if (renewed.userId !== this.#actingFor.userId)
      throw transportError('PROTOCOL_VIOLATION', 'a credential of another user')
    this.#actingFor = renewed
    this.watch()
  }

  #mayRenew(): boolean {
    this.#renewals ??= new RateWindow(this.#maxPerHour, 3_600_000)
    return this.#renewals.admit(this.#modules.clock.monotonicMs())
  }

  stop(): void {
    this.#cancel()
  }
}
