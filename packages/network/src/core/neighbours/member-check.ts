import {
  actsForMs,
  RareMap,
  type AccessToken,
  type ActingFor,
  type Delegation,
  type Membership,
  type NodeId,
  type PermissionScope,
  type Time,
} from '@runnel/protocol'
import type { OverlayEffects } from '../overlay-effects.ts'

export interface MemberCheckModules {
  readonly effects: Pick<OverlayEffects, 'resolveReader' | 'resolvePublisher'>
  /** For how many milliseconds from now the user may read; undefined when nothing is known. */
  readsForMs(scope: PermissionScope, userId: NodeId, delegation?: Delegation): number | undefined
  /** May this publisher publish? With `oldestMs`, what is that old. */
  checkPublisher(
    scope: PermissionScope,
    publisherId: NodeId,
    wallMs: number,
    oldestMs?: number,
    delegation?: Delegation,
  ): 'allowed' | 'denied' | 'unknown'
  /** For whom a peer with a link acts, as it proved; undefined when it showed no delegation. */
  actingFor(peerId: NodeId): ActingFor | undefined
  /** True when the user that the token names lets the node act in its name. */
  verifyMembership(token: AccessToken, nodeId: NodeId, wallMs: number): boolean
}

/** Until when a user may take part, by the monotonic clock, or that the registry is being asked. */
export type Permit = { readonly untilMs: number } | 'unknown'

export interface MemberCheckLimits {
  readonly maxMembershipTokens: number
  readonly membershipWindowMs: number
}

/** The last token of a peer, and the result of its check. */
interface KnownToken {
  token: AccessToken
  isGood: boolean
  /** Tokens checked since then. */
  checked: number
  sinceMs: number
}

/** Determines the users that nodes act for in stream parts, and whether they may take part. */
export class MemberCheck {
  readonly #limits: MemberCheckLimits
  readonly #modules: MemberCheckModules
  /** The peers with a link. */
  readonly #known = new RareMap<NodeId, KnownToken>()

  constructor(limits: MemberCheckLimits, modules: MemberCheckModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /**
   * The user that a peer acts for: the one of its delegation, or of its token, or itself. Only a token other than its last is
   * checked; undefined when these were too many.
   */
  userOf(peerId: NodeId, membership: Membership | undefined, { nowMs, wallMs }: Time): NodeId | undefined {
    const acting = this.#modules.actingFor(peerId)
    if (acting !== undefined) return acting.userId
    const token = membership?.token
    if (token === undefined) return peerId
    const known = this.#known.get(peerId)
    if (known !== undefined && isSame(token, known.token))
      return known.isGood && token.expiresMs > wallMs ? token.userId : peerId
    const { maxMembershipTokens, membershipWindowMs } = this.#limits
    const isCounted = known !== undefined && nowMs - known.sinceMs < membershipWindowMs
    const before = isCounted ? known : { checked: 0, sinceMs: nowMs }
    if (before.checked >= maxMembershipTokens) return undefined
    const isGood = this.#modules.verifyMembership(token, peerId, wallMs)
    // The signature is a view of a packet, which should not be kept alive for it.
    const kept = { ...token, signature: token.signature.slice() }
    this.#known.set(peerId, { token: kept, isGood, checked: before.checked + 1, sinceMs: before.sinceMs })
    return isGood ? token.userId : peerId
  }

  /** The link to the peer is closed. */
  forget(peerId: NodeId): void {
    this.#known.delete(peerId)
  }

  /** Whether the user may read; when nobody knows, the registry is asked, and a `readerResolved` follows. */
  reads(scope: PermissionScope, nodeId: NodeId, userId: NodeId, { nowMs, wallMs }: Time): Permit {
    const acting = this.#actingFor(nodeId, userId)
    const delegatedMs = actsForMs(acting, 'reads', scope, wallMs)
    if (delegatedMs <= 0) return { untilMs: -Infinity }
    const forMs = this.#modules.readsForMs(scope, userId, acting?.delegation)
    if (forMs !== undefined) return { untilMs: nowMs + Math.min(forMs, delegatedMs) }
    this.#modules.effects.resolveReader(scope, userId, nodeId, acting?.delegation)
    return 'unknown'
  }

  /** Whether the user may publish; when nobody knows, the registry is asked, and a `publisherResolved` follows. */
  publishes(scope: PermissionScope, nodeId: NodeId, userId: NodeId, { nowMs, wallMs }: Time): Permit {
    const acting = this.#actingFor(nodeId, userId)
    const delegatedMs = actsForMs(acting, 'publishes', scope, wallMs)
    if (delegatedMs <= 0) return { untilMs: -Infinity }
    const answer = this.#modules.checkPublisher(scope, userId, wallMs, undefined, acting?.delegation)
    if (answer !== 'unknown') return { untilMs: answer === 'allowed' ? nowMs + delegatedMs : -Infinity }
    this.#modules.effects.resolvePublisher(scope, userId, nodeId, acting?.delegation)
    return 'unknown'
  }

  #actingFor(nodeId: NodeId, userId: NodeId): ActingFor | undefined {
    const acting = this.#modules.actingFor(nodeId)
    return acting?.userId === userId ? acting : undefined
  }
}

function isSame(a: AccessToken, b: AccessToken): boolean {
  if (a.userId !== b.userId || a.expiresMs !== b.expiresMs) return false
  return a.signature.length === b.signature.length && a.signature.every((byte, i) => byte === b.signature[i])
}
