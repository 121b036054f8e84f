import {
  isKeyPart,
  parseStreamPartId,
  Shares,
  type AccessToken,
  type ActingFor,
  type NodeId,
  type Status,
  type PermissionScope,
  type StreamId,
  type StreamPartId,
} from '@runnel/protocol'
import type { NodeRecord } from './node-record.ts'

/** What a registry says of users, and of a node that acts for one by delegation. Each answer is undefined, or `unknown`, while nothing is known. */
export interface RegistryAnswers {
  /** For how many milliseconds from now the user may read; 0 or less: not at all. */
  readsForMs(scope: PermissionScope, userId: NodeId, acting?: ActingFor): number | undefined
  /** Whether the user may publish. */
  mayPublish(scope: PermissionScope, userId: NodeId, acting?: ActingFor): boolean | undefined
  /** For how many milliseconds from now the user that a token names lets the node act in its name; 0 or less: not at all. */
  membershipForMs(token: AccessToken, nodeId: NodeId): number
}

/** A node's role in a stream part: in the overlay, outside of it as a feeder, or none. */
export type Role =
  | { readonly kind: 'reader' | 'feeder'; readonly untilMs: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** The report of a node that may not take part in the role it claims, as far as is known. */
export interface KeptStatus {
  readonly node: NodeRecord
  readonly status: Status
  /** The node's `reconnects` when it reported: on a new connection it reports anew what it still is in. */
  readonly reconnects: number
  /** Whether the node said meanwhile that it stores the stream part. */
  storing: boolean
}

/** The roles of nodes in stream parts, from what they claim and what the registry says of their users. */
export class Roles {
  /** Undefined: there is no registry, and nodes are trusted. */
  readonly #answers: RegistryAnswers | undefined
  /** By node and stream part; oldest first. */
  readonly #kept = new Map<string, KeptStatus>()
  readonly #keysOf = new Map<StreamId, Map<NodeId, Set<string>>>()
  readonly #places: Shares<string>

  constructor({ maxWaitingStatuses }: { readonly maxWaitingStatuses: number }, answers?: RegistryAnswers) {
    this.#answers = answers
    this.#places = new Shares({ max: maxWaitingStatuses, evict: 'oldest' })
  }

  /** Sets the user that the node acts for; itself, when its token is not valid. */
  identify(node: NodeRecord, { membership }: Status, nowMs: number): void {
    const token = membership?.token
    if (node.actingFor !== undefined) node.member = withoutToken(node.actingFor.userId)
    else if (token === undefined) node.member = withoutToken(node.nodeId)
    else if (!isSame(token, node.member?.token)) {
      const forMs = this.#answers?.membershipForMs(token, node.nodeId) ?? Infinity
      const isGood = forMs > 0
      // A status relayed by another tracker may be old; the earlier permission to act for the user still holds.
      if (!isGood && node.member?.token?.userId === token.userId) return
      node.member = isGood
        ? { userId: token.userId, token, untilMs: nowMs + forMs }
        : withoutToken(node.nodeId)
    }
  }

  roleOf(node: NodeRecord, scope: PermissionScope, reads: boolean, nowMs: number): Role {
    // Whoever publishes in the key part reads it, too: it has no feeders.
    if (isKeyPart(scope) && !reads) return { kind: 'none' }
    if (this.#answers === undefined) return { kind: reads ? 'reader' : 'feeder', untilMs: Infinity }
    if ((node.member?.untilMs ?? Infinity) <= nowMs) node.member = withoutToken(node.nodeId)
    const userId = userOf(node)
    const actsUntilMs = node.member?.untilMs ?? Infinity
    if (!reads) {
      const may = this.#answers.mayPublish(scope, userId, node.actingFor)
      if (may === undefined) return { kind: 'unknown' }
      return may ? { kind: 'feeder', untilMs: actsUntilMs } : { kind: 'none' }
    }
    const forMs = this.#answers.readsForMs(scope, userId, node.actingFor)
    if (forMs === undefined) return { kind: 'unknown' }
    return forMs > 0 ? { kind: 'reader', untilMs: Math.min(nowMs + forMs, actsUntilMs) } : { kind: 'none' }
  }

  /** Whether the node may publish, as far as the registry has answered. False without one. */
  publishes(node: NodeRecord, scope: PermissionScope): boolean {
    return this.#answers?.mayPublish(scope, userOf(node), node.actingFor) ?? false
  }

  /** Streams of which statuses are kept. */
  get streamIds(): Iterable<StreamId> {
    return this.#keysOf.keys()
  }

  /** Keeps a status until the registry says more; the newest of a node and stream part. */
  keep(node: NodeRecord, status: Status): void {
    const { streamId } = parseStreamPartId(status.streamPartId)
    const key = keyOf(node.nodeId, status.streamPartId)
    const storing = this.keptIn(node.nodeId, status.streamPartId)?.storing ?? false
    this.#kept.set(key, { node, status, reconnects: node.reconnects, storing })
    const nodes = this.#keysOf.get(streamId) ?? new Map<NodeId, Set<string>>()
    this.#keysOf.set(streamId, nodes)
    nodes.set(node.nodeId, (nodes.get(node.nodeId) ?? new Set()).add(key))
    if (this.#places.has(key)) return
    for (const evicted of this.#places.add(key, node.network ?? '')) this.#forget(evicted)
  }

  /** The statuses kept of a stream: of one node or of all. */
  kept(streamId: StreamId, nodeId?: NodeId): KeptStatus[] {
    const nodes = this.#keysOf.get(streamId)
    const keys = nodeId === undefined ? [...(nodes?.values() ?? [])] : [nodes?.get(nodeId) ?? []]
    return keys.flatMap((ofNode) => [...ofNode].flatMap((key) => this.#kept.get(key) ?? []))
  }

  keptIn(nodeId: NodeId, id: StreamPartId): KeptStatus | undefined {
    const kept = this.#kept.get(keyOf(nodeId, id))
    return kept !== undefined && isCurrent(kept) ? kept : undefined
  }

  /** The node has joined the stream part, or has left it. */
  drop(nodeId: NodeId, id: StreamPartId): void {
    const key = keyOf(nodeId, id)
    this.#places.delete(key)
    this.#forget(key)
  }

  /** Stream parts of which statuses are kept. */
  get streamPartIds(): ReadonlySet<StreamPartId> {
    return new Set(Array.from(this.#kept.values(), ({ status }) => status.streamPartId))
  }

  /** Another tracker leads the stream part. Returns the nodes whose statuses were kept. */
  dropPart(id: StreamPartId): NodeId[] {
    const kept = this.kept(parseStreamPartId(id).streamId)
    const nodeIds = kept.flatMap(({ node, status }) => (status.streamPartId === id ? [node.nodeId] : []))
    for (const nodeId of nodeIds) this.drop(nodeId, id)
    return nodeIds
  }

  #forget(key: string): void {
    const kept = this.#kept.get(key)
    if (kept === undefined) return
    this.#kept.delete(key)
    const { streamId } = parseStreamPartId(kept.status.streamPartId)
    const nodes = this.#keysOf.get(streamId)
    const keys = nodes?.get(kept.node.nodeId)
    keys?.delete(key)
    if (keys?.size === 0) nodes?.delete(kept.node.nodeId)
    if (nodes?.size === 0) this.#keysOf.delete(streamId)
  }
}

/** Whether the node has not connected again since. */
export function isCurrent({ node, reconnects }: KeptStatus): boolean {
  return node.reconnects === reconnects
}

function keyOf(nodeId: NodeId, id: StreamPartId): string {
  return `${nodeId} ${id}`
}

/** Acts for the user, for as long as nothing else says. */
function withoutToken(userId: NodeId): NonNullable<NodeRecord['member']> {
  return { userId, token: undefined, untilMs: Infinity }
}

/** The user that the node acts for. */
export function userOf(node: NodeRecord): NodeId {
  return node.member?.userId ?? node.nodeId
}

function isSame(a: AccessToken, b: AccessToken | undefined): boolean {
  if (b === undefined || a.userId !== b.userId || a.expiresMs !== b.expiresMs) return false
  return a.signature.every((byte, i) => byte === b.signature[i])
}
