import type { NodeDelegations, PublisherPolicy } from '@runnel/network'
import {
  answerOf,
  coversBatch,
  permissionScope,
  verifyBatch,
  type Clock,
  type Crypto,
  type Delegation,
  type DelegationHistory,
  type MessageBatch,
  type NodeId,
  type VerificationPool,
} from '@runnel/protocol'
import { maxAheadMs } from '../publish/message-clock.ts'

/**
 * `forged`: no honest node sends it. `denied`: its publisher had no permission at its time, it is signed under a delegation for another
 * chain, or it belongs to an earlier stream with that id. `doubtful`: its publisher had permission then but lost it, and could have signed it since; accepted when enough
 * storage nodes have it.
 */
export type Verdict = 'good' | 'forged' | 'denied' | 'doubtful'

/** Checking goes on for so long at once; then others have their turn, and live messages do not wait for history. */
const maxTurnMs = 2

interface Ahead {
  readonly signerId: NodeId
  /** Undefined where nobody could say. */
  readonly isSigned: Promise<boolean | undefined>
}

export interface BatchCheckModules {
  readonly crypto: Crypto
  readonly clock: Clock
  readonly policy: PublisherPolicy
  readonly endings: DelegationHistory
  /** Storage nodes send those that their batches name. */
  readonly delegations: Pick<NodeDelegations, 'get' | 'isOfOtherChain' | 'isGood'>
  /** Where signatures are checked ahead. Default: nowhere. */
  readonly verification?: VerificationPool | undefined
}

/**
 * Checks batches of storage nodes as the node checks live ones. A publisher with permission today is assumed to have had it at
 * the time of the message. A permission that has ended covers messages published before its end, as far as storage nodes confirm
 * their time.
 */
export class BatchCheck {
  readonly #modules: BatchCheckModules
  #turnBeganMs = 0
  /** Of signatures that are checked elsewhere, or were. */
  readonly #ahead = new WeakMap<MessageBatch, Ahead>()

  constructor(modules: BatchCheckModules) {
    this.#modules = modules
  }

  /** Has the signature of a batch checked on other cores, where there are such, until its turn comes. */
  ahead(batch: MessageBatch): void {
    const { verification, delegations } = this.#modules
    const { delegationRef: ref, chain } = batch
    const signerId = ref === undefined ? chain.publisherId : delegations.get(ref)?.delegateId
    if (verification === undefined || signerId === undefined) return
    const { promise: isSigned, resolve } = Promise.withResolvers<boolean | undefined>()
    if (verification.verify(batch, signerId, resolve)) this.#ahead.set(batch, { signerId, isSigned })
  }

  /** Rejects with what the registry throws. */
  async check(batch: MessageBatch): Promise<Verdict> {
    const { clock } = this.#modules
    if (clock.monotonicMs() - this.#turnBeganMs > maxTurnMs) {
      await new Promise<void>((resolve) => clock.endOfTurn(resolve))
      this.#turnBeganMs = clock.monotonicMs()
    }
    return this.#verdictOf(batch)
  }

  async #verdictOf(batch: MessageBatch): Promise<Verdict> {
    const { clock, policy, delegations, endings } = this.#modules
    const { delegationRef: ref } = batch
    const delegation = ref === undefined ? undefined : delegations.get(ref)
    if (delegation !== undefined && delegations.isOfOtherChain(delegation)) return 'denied'
    const { streamId, partition, publisherId } = batch.chain
    const scope = permissionScope(streamId, partition)
    const newestMs = batch.messages.at(-1)?.timestamp ?? 0
    if (newestMs > clock.now() + maxAheadMs || !(await this.#isSigned(batch, delegation))) return 'forged'
    const oldestMs = batch.messages[0]?.timestamp
    const check = () => policy.check(scope, publisherId, newestMs, oldestMs)
    const then = await answerOf(check, () => policy.resolve(scope, publisherId))
    if (then !== 'allowed') return 'denied'
    if (delegation !== undefined && newestMs >= (await endings.validUntilMs(delegation))) return 'denied'
    // A key may also sign what it dates back to before its delegation was taken back.
    const today = () => policy.check(scope, publisherId, clock.now(), undefined, delegation)
    const now = await answerOf(today, () => policy.resolve(scope, publisherId, undefined, delegation))
    return now === 'allowed' ? 'good' : 'doubtful'
  }

  /** By its publisher, or by a delegate that was let at the time of each message. */
  #isSigned(batch: MessageBatch, delegation: Delegation | undefined): boolean | Promise<boolean> {
    const { delegations } = this.#modules
    const { delegationRef: ref } = batch
    if (ref === undefined) return this.#verify(batch, batch.chain.publisherId)
    if (delegation === undefined || !coversBatch(delegation, batch) || !delegations.isGood(ref)) return false
    return this.#verify(batch, delegation.delegateId)
  }

  #verify(batch: MessageBatch, signerId: NodeId): boolean | Promise<boolean> {
    const here = () => verifyBatch(batch, this.#modules.crypto, signerId)
    const ahead = this.#ahead.get(batch)
    if (ahead?.signerId !== signerId) return here()
    return ahead.isSigned.then((isSigned) => isSigned ?? here())
  }
}
