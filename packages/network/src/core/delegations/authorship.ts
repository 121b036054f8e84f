import {
  coversBatch,
  type Delegation,
  type DelegationRef,
  type MessageBatch,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import type { DelegationBook } from './delegation-book.ts'

/** Who published something in a stream: a user itself, or under a delegation. */
export interface Author {
  readonly streamId: StreamId
  readonly publisherId: NodeId
  readonly delegation?: Delegation | undefined
}

export interface AuthorshipModules {
  /** True when the key of this address signed the batch. */
  verify(batch: MessageBatch, signerId: NodeId): boolean
  /** May this publisher publish, and are messages of that time of this stream? With a delegation: is it in force? */
  checkPublisher(
    streamId: StreamId,
    publisherId: NodeId,
    wallMs: number,
    oldestMs?: number,
    delegation?: Delegation,
  ): 'allowed' | 'denied' | 'unknown'
  readonly delegations: Pick<DelegationBook, 'get' | 'isGood' | 'add'>
}

/** Whether batches are of the publishers that they name, and whether those may publish. */
export class Authorship {
  readonly #modules: AuthorshipModules

  constructor(modules: AuthorshipModules) {
    this.#modules = modules
  }

  /** The delegation that is needed to check a batch and is not here; undefined when nothing is needed. */
  lacks({ delegationRef: ref }: MessageBatch): DelegationRef | undefined {
    return ref === undefined || this.#modules.delegations.get(ref) !== undefined ? undefined : ref
  }

  authorOf({ chain, delegationRef: ref }: MessageBatch): Author {
    const { streamId, publisherId } = chain
    const delegation = ref === undefined ? undefined : this.#modules.delegations.get(ref)
    return { streamId, publisherId, delegation }
  }

  /** True when the publisher signed the batch, or a delegate of its that was let at the time of each message. */
  isSigned(batch: MessageBatch): boolean {
    const { delegations, verify } = this.#modules
    const { delegationRef: ref, chain } = batch
    if (ref === undefined) return verify(batch, chain.publisherId)
    const delegation = delegations.get(ref)
    if (delegation === undefined || !coversBatch(delegation, batch) || !delegations.isGood(ref)) return false
    return verify(batch, delegation.delegateId)
  }

  /** Has the delegation of an author be known again, where it was forgotten, so that what is forwarded can be checked. */
  keep({ delegation }: Author, from: NodeId | undefined): void {
    if (delegation !== undefined) this.#modules.delegations.add(delegation, from)
  }

  /** Denied where it names a delegation that is not known: whoever asks has looked at that first. */
  permission(batch: MessageBatch, wallMs: number): 'allowed' | 'denied' | 'unknown' {
    if (this.lacks(batch) !== undefined) return 'denied'
    return this.mayPublish(this.authorOf(batch), wallMs, batch.messages[0]?.timestamp)
  }

  mayPublish(
    { streamId, publisherId, delegation }: Author,
    wallMs: number,
    oldestMs?: number,
  ): 'allowed' | 'denied' | 'unknown' {
    return this.#modules.checkPublisher(streamId, publisherId, wallMs, oldestMs, delegation)
  }
}
