import {
  permissionScope,
  questionKey,
  requiredSigner,
  type Delegation,
  type MessageBatch,
  type NodeId,
  type PermissionScope,
} from '@runnel/protocol'
import type { DelegationBook } from './delegation-book.ts'

/** Who published something in a stream: a user itself, or under a delegation. */
export interface Author {
  readonly scope: PermissionScope
  readonly publisherId: NodeId
  readonly delegation?: Delegation | undefined
}

/** What one answer of the registry is about: a delegate may have several delegations, of which some are known to be in force. */
export function authorKey({ scope, publisherId, delegation }: Author): string {
  return questionKey(scope, publisherId, undefined, delegation)
}

export interface AuthorshipModules {
  /** True when the key of this address signed the batch. */
  verify(batch: MessageBatch, signerId: NodeId): boolean
  /** May this publisher publish, and are messages of that time of this stream? With a delegation: is it in force? */
  checkPublisher(
    scope: PermissionScope,
    publisherId: NodeId,
    wallMs: number,
    oldestMs?: number,
    delegation?: Delegation,
  ): 'allowed' | 'denied' | 'unknown'
  readonly delegations: Pick<DelegationBook, 'get' | 'isOfOtherChain' | 'isGood' | 'add'>
}

/** Whether batches are of the publishers that they name, and whether those may publish. */
export class Authorship {
  readonly #modules: AuthorshipModules

  constructor(modules: AuthorshipModules) {
    this.#modules = modules
  }

  /** Who published a batch, as it says; undefined when it names a delegation that is not known here. */
  authorOf({ chain, delegationRef: ref }: MessageBatch): Author | undefined {
    const { publisherId } = chain
    const scope = permissionScope(chain.streamId, chain.partition)
    if (ref === undefined) return { scope, publisherId }
    const delegation = this.#modules.delegations.get(ref)
    return delegation && { scope, publisherId, delegation }
  }

  /**
   * True when it published under a delegation for another chain. Whoever forwards it may be right: networks that are described by
   * documents may name different chains, or none.
   */
  isOfOtherChain({ delegation }: Author): boolean {
    return delegation !== undefined && this.#modules.delegations.isOfOtherChain(delegation)
  }

  /** Whose key has to have signed a batch; undefined when it names a delegation that is not known here. */
  signerOf(batch: MessageBatch): NodeId | undefined {
    const author = this.authorOf(batch)
    return author && (author.delegation?.delegateId ?? author.publisherId)
  }

  /** True when the publisher signed the batch, or a delegate of its that was let at the time of each message. */
  isSigned(batch: MessageBatch, { delegation }: Author): boolean {
    const { delegations, verify } = this.#modules
    const signerId = requiredSigner(batch, delegation, delegations)
    return signerId !== undefined && verify(batch, signerId)
  }

  /** Has the delegation of an author be known again, where it was forgotten, so that what is forwarded can be checked. */
  keep({ delegation }: Author, from: NodeId | undefined): void {
    if (delegation !== undefined) this.#modules.delegations.add(delegation, from)
  }

  mayPublish(
    { scope, publisherId, delegation }: Author,
    wallMs: number,
    oldestMs?: number,
  ): 'allowed' | 'denied' | 'unknown' {
    return this.#modules.checkPublisher(scope, publisherId, wallMs, oldestMs, delegation)
  }
}
