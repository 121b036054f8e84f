import type { AccessToken, Membership, NodeId, StreamId, Time } from '@runnel/protocol'
import type { OverlayEffects } from '../overlay-effects.ts'

export interface MemberCheckModules {
  readonly effects: Pick<OverlayEffects, 'resolveReader' | 'resolvePublisher'>
  /** For how many milliseconds from now the user may read the stream; undefined when nothing is known. */
  readsForMs(streamId: StreamId, userId: NodeId): number | undefined
  /** May this publisher publish? With `oldestMs`, what is that old. */
  checkPublisher(
    streamId: StreamId,
    publisherId: NodeId,
    wallMs: number,
    oldestMs?: number,
  ): 'allowed' | 'denied' | 'unknown'
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
  readonly #known = new Map<NodeId, KnownToken>()

  constructor(limits: MemberCheckLimits, modules: MemberCheckModules) {
    this.#limits = limits
    this.#modules = modules
  }

  /**
   * The user that a peer acts for: the one its token names, or itself. Only a token that differs from its last is checked;
   * undefined when there were too many of these.
   */
  userOf(peerId: NodeId, membership: Membership | undefined, { nowMs, wallMs }: Time): NodeId | undefined {
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

  /** Whether the user may read; when that is unknown, the registry is asked, and a `readerResolved` follows. */
  reads(streamId: StreamId, nodeId: NodeId, userId: NodeId, nowMs: number): Permit {
    const forMs = this.#modules.readsForMs(streamId, userId)
    if (forMs !== undefined) return { untilMs: nowMs + forMs }
    this.#modules.effects.resolveReader(streamId, userId, nodeId)
    return 'unknown'
  }

  /** Whether the user may publish; when that is unknown, the registry is asked, and a `publisherResolved` follows. */
  publishes(streamId: StreamId, nodeId: NodeId, userId: NodeId, wallMs: number): Permit {
    const answer = this.#modules.checkPublisher(streamId, userId, wallMs)
    if (answer !== 'unknown') return { untilMs: answer === 'allowed' ? Infinity : -Infinity }
    this.#modules.effects.resolvePublisher(streamId, userId, nodeId)
    return 'unknown'
  }
}

function isSame(a: AccessToken, b: AccessToken): boolean {
  if (a.userId !== b.userId || a.expiresMs !== b.expiresMs) return false
  return a.signature.length === b.signature.length && a.signature.every((byte, i) => byte === b.signature[i])
}
