import type { NodeDelegations } from '@runnel/network'
import {
  decodeDelegation,
  encodeDelegation,
  isSideMessage,
  isTransient,
  type Delegation,
  type DelegationRef,
  type MessageBatch,
} from '@runnel/protocol'
import { storageError } from './errors.ts'
import type { MessageStore } from './store/message-store.ts'
import { noDelegations, type EncodedDelegations } from './store/stored-delegations.ts'

/** The delegations that the node has come to know, as they are stored. */
export class KnownDelegations {
  readonly #node: Pick<NodeDelegations, 'get' | 'add'>
  /** Many batches are signed under one. */
  readonly #encoded = new WeakMap<Delegation, Uint8Array>()

  constructor(node: Pick<NodeDelegations, 'get' | 'add'>) {
    this.#node = node
  }

  /** The bytes of a delegation; undefined when it is not known. */
  bytesOf(ref: DelegationRef): Uint8Array | undefined {
    const delegation = this.#node.get(ref)
    if (delegation === undefined) return undefined
    const known = this.#encoded.get(delegation)
    if (known !== undefined) return known
    const bytes = encodeDelegation(delegation)
    this.#encoded.set(delegation, bytes)
    return bytes
  }

  /**
   * Whether a batch is for storage nodes. Not one of a transient chain; nor a cursor of a delegate that may not read, such as a sensor, which
   * readers leave out: it would take the place of their own.
   */
  isToBeKept({ chain, delegationRef: ref }: MessageBatch): boolean {
    if (isTransient(chain)) return false
    return !isSideMessage(chain) || ref === undefined || this.#node.get(ref)?.reads !== false
  }

  /** Of the delegations that batches name, those that the node does not know; read from the store at once. Throws what the store throws. */
  async lackedBy(
    batches: readonly MessageBatch[],
    store: Pick<MessageStore, 'delegationsOf'>,
  ): Promise<EncodedDelegations> {
    const lacking = batches.filter(({ delegationRef: ref }) => ref !== undefined && !this.#node.get(ref))
    return lacking.length === 0 ? noDelegations : store.delegationsOf(lacking)
  }

  /**
   * Makes the delegation of a batch known to the node, in case it is not, so that it is sent before the batch. False when it is not
   * among those either. Throws STORE_CORRUPT when the bytes are none.
   */
  makeKnown({ delegationRef: ref }: MessageBatch, lacked: EncodedDelegations): boolean {
    if (ref === undefined || this.#node.get(ref) !== undefined) return true
    const bytes = lacked.get(ref)
    if (bytes === undefined) return false
    try {
      this.#node.add(decodeDelegation(bytes))
      return true
    } catch (cause) {
      throw storageError('STORE_CORRUPT', `delegation ${ref}`, { cause })
    }
  }
}
