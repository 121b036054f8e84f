import {
  delegationRef,
  encodeDelegation,
  allows,
  signMembership,
  type BatchSigner,
  type Cancel,
  type Clock,
  type Credential,
  type Crypto,
  type DelegatedRight,
  type Delegation,
  type Identity,
  type NodeId,
  type PermissionScope,
} from '@runnel/protocol'
import type { Acting } from '@runnel/transport'
import type { ReadingKeySource } from '../encryption/ports.ts'
import { noReadingKey } from '../encryption/reading-key-sources.ts'
import { asError } from '../errors.ts'
import { requireDelegated } from './require-delegated.ts'

/** How long a key in this process lets a node act for it at a time; half of that is used. */
export const ownDelegationMs = 24 * 3_600_000

/** Longest single wait: the wall clock may be set, and timers have a maximum. */
const maxWaitMs = 3_600_000
/** With less than this left, the end is not announced again. */
const minNoticeMs = 60_000

/** How a delegation does that has to be asked for. */
export interface DelegationNews {
  /** `renewed`: a new one was made. `ending`: nobody can be asked for a new one without a person, or `error` says why there is none. */
  readonly state: 'ending' | 'expired' | 'renewed'
  /** How long is left of it, in milliseconds; 0 when it has expired. */
  readonly leftMs: number
  readonly error?: Error
}

export interface ActingUserOptions {
  readonly nodeId: NodeId
  readonly userId: NodeId
  /** Of the registries; 0 where they are on no chain. */
  readonly chainId: number
  /** The user's key, if this process has it. */
  readonly key?: Identity | undefined
  /** The key that the delegation names. */
  readonly delegate: Identity
  /** Undefined where the node is the user. */
  readonly delegation?: Delegation | undefined
  /** Makes a new delegation without asking a person, which begins at `notBeforeMs` or later. Rejects when that fails. */
  readonly renew?: ((notBeforeMs: number) => Delegation | Promise<Delegation>) | undefined
  /** Default: the process cannot read what is encrypted. */
  readonly readingKeys?: ReadingKeySource | undefined
}

export interface ActingUserModules {
  readonly crypto: Crypto
  readonly clock: Clock
}

/**
 * In whose name a client acts, and how its node proves it: the node is the user itself, or has a delegation. Renews what can be
 * renewed when half of its time is over, and says when the rest ends.
 */
export class ActingUser implements Acting {
  readonly userId: NodeId
  readonly chainId: number
  /** The user's own key, where this process has it; with it there is no limit to what the client does. */
  readonly key: Identity | undefined
  /** With what it opens what is encrypted for the user. */
  readonly readingKeys: ReadingKeySource
  /** Told how the delegation does, where the user's key is elsewhere. */
  onNews: (news: DelegationNews) => void = () => {}
  readonly #options: ActingUserOptions
  readonly #modules: ActingUserModules
  readonly #listeners = new Set<() => void>()
  #credential: Credential | undefined
  #signer: BatchSigner
  /** The user ended what began before. */
  #notBeforeMs = 0
  /** With so much left of the credential it is renewed, or its end is announced. */
  #noticeMs = 0
  #hasExpired = false
  #isStopped = false
  #cancel: Cancel = () => {}

  constructor(options: ActingUserOptions, modules: ActingUserModules) {
    const { key, delegation, delegate } = options
    this.userId = options.userId
    this.chainId = options.chainId
    this.key = key
    this.readingKeys = options.readingKeys ?? noReadingKey(options.userId)
    this.#options = options
    this.#modules = modules
    this.#signer = key ?? delegate
    if (delegation !== undefined) this.#take(delegation)
  }

  /** Signs batches: the user, or a delegate of it. */
  get signer(): BatchSigner {
    return this.#signer
  }

  /** What limits this client; undefined where it has the user's key. */
  get delegation(): Delegation | undefined {
    return this.key === undefined ? this.#credential?.delegation : undefined
  }

  credential(): Credential | undefined {
    return this.#credential
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Throws DELEGATION_SCOPE, DELEGATION_EXPIRED or DELEGATION_NOT_YET. Of a message, `wallMs` is its timestamp. */
  require(right: DelegatedRight, scope: PermissionScope, wallMs = this.#modules.clock.now()): void {
    const { delegation } = this
    if (delegation !== undefined) requireDelegated(delegation, right, scope, wallMs)
  }

  /** For how long it may still read a stream or its key part, in milliseconds: 0 or less not at all. */
  readsForMs(scope: PermissionScope): number {
    const { delegation } = this
    if (delegation === undefined) return Infinity
    return allows(delegation, 'reads', scope) ? delegation.untilMs - this.#modules.clock.now() : 0
  }

  /**
   * The user ended its delegations that began until then. Where its key is here, one that begins later takes the place of this
   * one; who was let by another key needs its user for that.
   */
  endedUntil(begunByMs: number): void {
    const { delegation } = this.#credential ?? {}
    if (this.key === undefined || delegation === undefined || delegation.fromMs > begunByMs) return
    this.#notBeforeMs = begunByMs + 1
    this.#noticeMs = Infinity
    void this.#look()
  }

  /** Renews nothing any more. */
  stop(): void {
    this.#isStopped = true
    this.#cancel()
  }

  #take(delegation: Delegation): void {
    const { crypto } = this.#modules
    const { delegate } = this.#options
    const token = this.#tokenUntil(delegation.untilMs)
    this.#credential = token === undefined ? { delegation } : { delegation, token }
    if (this.key === undefined) {
      const ref = delegationRef(encodeDelegation(delegation), crypto)
      this.#signer = { sign: delegate.sign, delegationRef: ref }
    }
    this.#noticeMs = this.#leftMs() / 2
    this.#hasExpired = false
    for (const listener of [...this.#listeners]) listener()
    this.#wait()
  }

  /** The delegate's leave for a node that has another key. */
  #tokenUntil(untilMs: number): Credential['token'] {
    const { nodeId, delegate } = this.#options
    const { clock, crypto } = this.#modules
    if (delegate.nodeId === nodeId) return undefined
    const expiresMs = Math.min(untilMs, clock.now() + ownDelegationMs)
    return signMembership({ nodeId, expiresMs }, crypto, delegate)
  }

  #leftMs(): number {
    const { delegation, token } = this.#credential ?? {}
    const untilMs = Math.min(delegation?.untilMs ?? Infinity, token?.expiresMs ?? Infinity)
    return untilMs - this.#modules.clock.now()
  }

  #wait(): void {
    this.#cancel()
    if (this.#isStopped) return
    const leftMs = this.#leftMs()
    const untilNoticeMs = leftMs - this.#noticeMs
    const delayMs = leftMs > 0 ? Math.max(1, untilNoticeMs) : minNoticeMs
    this.#cancel = this.#modules.clock.schedule(
      Math.ceil(Math.min(delayMs, maxWaitMs)),
      () => void this.#look(),
    )
  }

  async #look(): Promise<void> {
    if (this.#leftMs() > this.#noticeMs) return this.#wait()
    const before = this.#credential?.delegation
    let error: Error | undefined
    try {
      const delegation = await this.#renewed()
      if (this.#isStopped) return
      if (delegation !== undefined) {
        this.#take(delegation)
        if (delegation !== before) this.#tell({ state: 'renewed', leftMs: this.#leftMs() })
        return
      }
    } catch (thrown) {
      error = asError(thrown)
    }
    if (!this.#isStopped) this.#announceEnd(error)
  }

  /** Undefined where nobody can be asked but a person. */
  async #renewed(): Promise<Delegation | undefined> {
    const { delegation, token } = this.#credential ?? {}
    // Only the delegate's token for the node is at its end.
    if (delegation !== undefined && token !== undefined && token.expiresMs < delegation.untilMs)
      return delegation
    return this.#options.renew?.(this.#notBeforeMs)
  }

  #announceEnd(error: Error | undefined): void {
    const leftMs = Math.max(0, this.#leftMs())
    const wasExpired = this.#hasExpired
    this.#hasExpired = leftMs === 0
    this.#noticeMs = leftMs / 2 < minNoticeMs ? 0 : leftMs / 2
    const state = this.#hasExpired ? 'expired' : 'ending'
    if (!wasExpired) this.#tell({ state, leftMs, ...(error === undefined ? {} : { error }) })
    if (!this.#hasExpired || this.#options.renew !== undefined) this.#wait()
  }

  #tell(news: DelegationNews): void {
    if (this.key === undefined) this.onNews(news)
  }
}
