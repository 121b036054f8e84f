import type { AccessToken, Membership, NodeId, StreamId } from '@runnel/protocol'
import type { NodeEffects } from '../effects.ts'

export interface MemberCheckModules {
  readonly effects: Pick<NodeEffects, 'resolveReader' | 'resolvePublisher'>
  /** For how many milliseconds from now the user may read the stream; undefined when nothing is known. */
  readsForMs(streamId: StreamId, userId: NodeId): number | undefined
  /** May this publisher publish? With `oldestMs`, what is that old. */
  checkPublisher(
    streamId: StreamId,
    publisherId: NodeId,
    nowMs: number,
    oldestMs?: number,
  ): 'allowed' | 'denied' | 'unknown'
  /** True when the user that the token names lets the node act in its name. */
  verifyMembership(token: AccessToken, nodeId: NodeId, nowMs: number): boolean
}

/** Until when somebody may take part, or that the registry is being asked. */
export type Permit = { readonly untilMs: number } | 'unknown'

/** In whose name nodes take part in stream parts, and whether they may. */
export class MemberCheck {
  readonly #modules: MemberCheckModules

  constructor(modules: MemberCheckModules) {
    this.#modules = modules
  }

  /** The user that a node acts for: the one who says so, or itself. */
  userOf(nodeId: NodeId, membership: Membership | undefined, nowMs: number): NodeId {
    const token = membership?.token
    const isGood = token !== undefined && this.#modules.verifyMembership(token, nodeId, nowMs)
    return isGood ? token.userId : nodeId
  }

  /** Whether the user may read; when nobody knows, the registry is asked, and a `readerResolved` follows. */
  reads(streamId: StreamId, nodeId: NodeId, userId: NodeId, nowMs: number): Permit {
    const forMs = this.#modules.readsForMs(streamId, userId)
    if (forMs !== undefined) return { untilMs: nowMs + forMs }
    this.#modules.effects.resolveReader(streamId, userId, nodeId)
    return 'unknown'
  }

  /** Whether the user may publish; when nobody knows, the registry is asked, and a `publisherResolved` follows. */
  publishes(streamId: StreamId, nodeId: NodeId, userId: NodeId, nowMs: number): Permit {
    const answer = this.#modules.checkPublisher(streamId, userId, nowMs)
    if (answer !== 'unknown') return { untilMs: answer === 'allowed' ? Infinity : 0 }
    this.#modules.effects.resolvePublisher(streamId, userId, nodeId)
    return 'unknown'
  }
}
