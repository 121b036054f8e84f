import {
  parseStreamPartId,
  Shares,
  type AccessToken,
  type NodeId,
  type Status,
  type StreamId,
} from '@runnel/protocol'
import type { NodeRecord } from './node-record.ts'

/** What a registry says of users. Each answer is undefined, or `unknown`, while nothing is known. */
export interface RegistryAnswers {
  /** For how many milliseconds from now the user may read the stream; 0 or less: not at all. */
  readsForMs(streamId: StreamId, userId: NodeId): number | undefined
  /** Whether the user may publish to the stream. */
  mayPublish(streamId: StreamId, userId: NodeId): boolean | undefined
  /** True when the user that a token names lets the node act in its name. */
  verifyMembership(token: AccessToken, nodeId: NodeId): boolean
}

/** As what a node may be in a stream part: in the overlay, outside of it as a feeder, or not at all. */
export type Role =
  | { readonly kind: 'reader' | 'feeder'; readonly untilMs: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }

/** What a node reported while the registry was asked about its user. */
export interface WaitingStatus {
  readonly nodeId: NodeId
  /** The stream and the user. */
  readonly question: string
  readonly status: Status
}

/** As what nodes take part in stream parts, by what they say and what the registry says of their users. */
export class Roles {
  /** Undefined: no registry is followed, and nodes are taken at their word. */
  readonly #answers: RegistryAnswers | undefined
  readonly #waiting = new Map<string, WaitingStatus>()
  readonly #keysOf = new Map<string, Set<string>>()
  readonly #places: Shares<string>

  constructor({ maxWaitingStatuses }: { readonly maxWaitingStatuses: number }, answers?: RegistryAnswers) {
    this.#answers = answers
    this.#places = new Shares({ max: maxWaitingStatuses, evict: 'oldest' })
  }

  /** Takes the user that the node says it acts for; itself, when it names nobody who lets it. */
  identify(node: NodeRecord, { membership }: Status): void {
    const token = membership?.token
    if (token === undefined) node.member = { userId: node.nodeId, token }
    else if (!isSame(token, node.member?.token)) {
      const isGood = this.#answers?.verifyMembership(token, node.nodeId) ?? true
      node.member = { userId: isGood ? token.userId : node.nodeId, token: isGood ? token : undefined }
    }
  }

  roleOf(node: NodeRecord, streamId: StreamId, reads: boolean, now: number): Role {
    if (this.#answers === undefined) return { kind: reads ? 'reader' : 'feeder', untilMs: Infinity }
    const userId = userOf(node)
    if (!reads) {
      const may = this.#answers.mayPublish(streamId, userId)
      if (may === undefined) return { kind: 'unknown' }
      return may ? { kind: 'feeder', untilMs: Infinity } : { kind: 'none' }
    }
    const forMs = this.#answers.readsForMs(streamId, userId)
    if (forMs === undefined) return { kind: 'unknown' }
    return forMs > 0 ? { kind: 'reader', untilMs: now + forMs } : { kind: 'none' }
  }

  /** Keeps a status until the registry has answered; the newest of a node and stream part. */
  wait(node: NodeRecord, status: Status): void {
    const { streamId } = parseStreamPartId(status.streamPartId)
    const [nodeId, userId] = [node.nodeId, userOf(node)]
    const key = `${nodeId} ${userId} ${status.streamPartId}`
    const question = questionOf(streamId, userId)
    this.#waiting.set(key, { nodeId, question, status })
    const keys = this.#keysOf.get(question)
    if (keys === undefined) this.#keysOf.set(question, new Set([key]))
    else keys.add(key)
    if (this.#places.has(key)) return
    for (const evicted of this.#places.add(key, node.network ?? '')) this.#forget(evicted)
  }

  /** What waited for an answer about the user. */
  take(streamId: StreamId, userId: NodeId): WaitingStatus[] {
    const taken: WaitingStatus[] = []
    for (const key of [...(this.#keysOf.get(questionOf(streamId, userId)) ?? [])]) {
      const waiting = this.#waiting.get(key)
      if (waiting !== undefined) taken.push(waiting)
      this.#places.delete(key)
      this.#forget(key)
    }
    return taken
  }

  #forget(key: string): void {
    const question = this.#waiting.get(key)?.question ?? ''
    this.#waiting.delete(key)
    const keys = this.#keysOf.get(question)
    keys?.delete(key)
    if (keys?.size === 0) this.#keysOf.delete(question)
  }
}

/** What the registry is asked. Neither id has a space in it. */
function questionOf(streamId: StreamId, userId: NodeId): string {
  return `${streamId} ${userId}`
}

/** In whose name the node takes part. */
export function userOf(node: NodeRecord): NodeId {
  return node.member?.userId ?? node.nodeId
}

function isSame(a: AccessToken, b: AccessToken | undefined): boolean {
  if (b === undefined || a.userId !== b.userId || a.expiresMs !== b.expiresMs) return false
  return a.signature.every((byte, i) => byte === b.signature[i])
}
