import type { NodeDelegations } from '@runnel/network'
import {
  answerOf,
  permissionScope,
  decodeBatch,
  requiredSigner,
  toStreamPartId,
  verifyBatch,
  type Clock,
  type Crypto,
  type Delegation,
  type DelegationHistory,
  type MessageBatch,
  type NodeId,
  type PublisherPolicy,
  type StreamPartId,
  type VerificationPool,
} from '@runnel/protocol'
import type { KnownDelegations } from '../known-delegations.ts'

export interface CheckModules {
  readonly policy: PublisherPolicy
  readonly endings: DelegationHistory
  /** Of this node, which the other storage node sends a delegation before the first batch that names it. */
  readonly delegations: Pick<NodeDelegations, 'get' | 'isOfOtherChain' | 'isGood'>
  readonly known: Pick<KnownDelegations, 'bytesOf' | 'isToBeKept'>
  readonly crypto: Crypto
  readonly clock: Pick<Clock, 'now'>
  /** Where signatures are checked. Default: on this thread, as where it has no room. */
  readonly verification?: VerificationPool | undefined
}

/** What a copy should be of, and who gave it. */
export interface CopyPlace {
  readonly streamPartId: StreamPartId
  readonly from: NodeId
}

export interface CheckedBatch {
  readonly batch: MessageBatch
  /** The bytes of the delegation that it names. */
  readonly delegation: Uint8Array | undefined
  /** Its publisher may not publish any more, or took the delegation back: it may have been signed since, with an earlier time. */
  readonly isDoubtful: boolean
}

/**
 * A batch as another storage node gave it, if it is of the stream part, signed by its publisher or a delegate that may sign it, and
 * the publisher might publish at the time of its messages, which are not older than the stream. Undefined otherwise. Throws what
 * decoding throws, and what a chain throws.
 */
export async function checkBatch(
  bytes: Uint8Array,
  { streamPartId, from }: CopyPlace,
  modules: CheckModules,
): Promise<CheckedBatch | undefined> {
  const batch = decodeBatch(bytes)
  const { streamId, partition, publisherId } = batch.chain
  if (toStreamPartId(streamId, partition) !== streamPartId) return undefined
  const scope = permissionScope(streamId, partition)
  const { policy, endings, clock, known } = modules
  const { delegationRef: ref } = batch
  const delegation = ref && modules.delegations.get(ref)
  // The node may forget it while the registry is asked.
  const delegationBytes = ref && known.bytesOf(ref)
  // Checked first, so that nobody can make this node ask the registry about publishers who signed nothing.
  if (!known.isToBeKept(batch) || !(await isSigned(batch, delegation, modules))) return undefined
  const oldestMs = batch.messages[0]?.timestamp ?? 0
  const newestMs = batch.messages.at(-1)?.timestamp ?? Infinity
  const check = () => policy.check(scope, publisherId, newestMs, oldestMs)
  const then = await answerOf(check, () => policy.resolve(scope, publisherId, from))
  if (then !== 'allowed') return undefined
  if (delegation !== undefined && newestMs >= (await endings.validUntilMs(delegation))) return undefined
  const today = () => policy.check(scope, publisherId, clock.now(), oldestMs, delegation)
  const now = await answerOf(today, () => policy.resolve(scope, publisherId, from, delegation))
  return { batch, delegation: delegationBytes, isDoubtful: now !== 'allowed' }
}

function isSigned(
  batch: MessageBatch,
  delegation: Delegation | undefined,
  { crypto, delegations, verification }: CheckModules,
): boolean | Promise<boolean> {
  if (delegation !== undefined && delegations.isOfOtherChain(delegation)) return false
  const signerId = requiredSigner(batch, delegation, delegations)
  if (signerId === undefined) return false
  const here = () => verifyBatch(batch, crypto, signerId)
  const { promise, resolve } = Promise.withResolvers<boolean | undefined>()
  if (verification?.verify(batch, signerId, resolve) !== true) return here()
  return promise.then((isSigned) => isSigned ?? here())
}
