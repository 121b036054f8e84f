import {
  TokenBucket,
  RareSet,
  type About,
  type AccessToken,
  type ActingFor,
  type Contact,
  type NodeId,
  type StreamPartId,
} from '@runnel/protocol'
import type { TrackerLimits } from '../limits.ts'
import type { OpenOffer } from './open-offer.ts'
import type { StreamPart } from './stream-part.ts'

/** A node whose connection is open, or was until a moment ago. */
export class NodeRecord {
  readonly nodeId: NodeId
  connected = true
  /** How often it has connected again. */
  reconnects = 0
  /** False of one that only the replica of another tracker named so far. */
  hasConnected = true
  /** The network it comes from, as given by `networkOf`; undefined where it is unknown. */
  network: string | undefined
  /** Its connection is being closed: what still arrives on it is ignored. */
  refused = false
  /** How it is reached; undefined before its node info. */
  contact: Contact | undefined
  /** What it says that it is; undefined where it has not. */
  about: About | undefined
  /** For whom it acts, as its delegation proved; undefined where it showed none. */
  actingFor: ActingFor | undefined
  /** In whose name it takes part in stream parts, and until when by its token; undefined before its first status. */
  member:
    { readonly userId: NodeId; readonly token: AccessToken | undefined; readonly untilMs: number } | undefined
  /** What it left for a neighbour that it is yet to be told of, or which neighbour has it. */
  openOffer: OpenOffer | undefined
  readonly parts = new Set<StreamPart>()
  /** Stream parts it was in before it connected again and has not reported since. */
  readonly unconfirmed = new RareSet<StreamPart>()
  /** Stream parts it is in that rest after a fault. */
  readonly resting = new RareSet<StreamPartId>()
  readonly statuses: TokenBucket
  /** Stream parts in which neighbours are told that it is reached in another way. Made when first needed. */
  contactNews: TokenBucket | undefined
  readonly signals: TokenBucket
  readonly errors: TokenBucket
  readonly unpaid: TokenBucket
  readonly storageQuestions: TokenBucket
  readonly countQuestions: TokenBucket

  constructor(nodeId: NodeId, limits: TrackerLimits, nowMs: number) {
    this.nodeId = nodeId
    this.statuses = new TokenBucket({ perSecond: limits.statusesPerSecond, burst: limits.statusBurst }, nowMs)
    this.signals = new TokenBucket({ perSecond: limits.signalsPerSecond, burst: limits.signalBurst }, nowMs)
    const errors = { perSecond: limits.errorsPerSecond, burst: limits.errorBurst }
    this.errors = new TokenBucket(errors, nowMs)
    this.unpaid = new TokenBucket(errors, nowMs)
    this.storageQuestions = new TokenBucket(
      { perSecond: limits.storageQuestionsPerSecond, burst: limits.storageQuestionBurst },
      nowMs,
    )
    this.countQuestions = new TokenBucket(
      { perSecond: limits.countQuestionsPerSecond, burst: limits.countQuestionBurst },
      nowMs,
    )
  }
}

/** The stream parts in which both are. */
export function* sharedParts(a: NodeRecord, b: NodeRecord): Generator<StreamPart> {
  const [few, many] = a.parts.size <= b.parts.size ? [a, b] : [b, a]
  for (const part of few.parts) if (many.parts.has(part)) yield part
}
