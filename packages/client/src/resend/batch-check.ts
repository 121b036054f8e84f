import type { NodeDelegations, PublisherPolicy } from '@runnel/network'
import {
  answerOf,
  permissionScope,
  requiredSigner,
  verifyBatch,
  type Clock,
  type Crypto,
  type Delegation,
  type DelegationHistory,
  type MessageBatch,
  type VerificationPool,
} from '@runnel/protocol'
import { maxAheadMs } from '../publish/message-clock.ts'
import { SignaturesAhead } from './signatures-ahead.ts'

/**
 * `forged`: no honest node sends it. `denied`: its publisher had no permission at its time, it is signed under a delegation for another
 * chain, it is too far ahead of this machine's clock, or it belongs to an earlier stream with that id. `doubtful`: its publisher had permission then but lost it, and could have signed it since; accepted when enough
 * storage nodes have it.
 */
export type Verdict = 'good' | 'forged' | 'denied' | 'doubtful'

/** How long checking goes on at once before other work has its turn: live messages must not wait for history. */
const maxTurnMs = 2

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
  /** Undefined before the first check of a turn. */
  #turnBeganMs: number | undefined

  constructor(modules: BatchCheckModules) {
    this.#modules = modules
  }

  /** For one reading of many batches; undefined where there are no other cores to check their signatures meanwhile. */
  signaturesAhead(): SignaturesAhead | undefined {
    const { clock, crypto, verification } = this.#modules
    if (verification === undefined) return undefined
    return new SignaturesAhead({
      ...{ clock, verification },
      verify: (batch, signerId) => verifyBatch(batch, crypto, signerId),
      rest: () => this.#rest(),
    })
  }

  /** Has the signature of a batch checked until its turn comes, unless the signal says that it is not wanted any more. */
  ahead(batch: MessageBatch, signatures: SignaturesAhead, signal: AbortSignal): void {
    const { delegationRef: ref, chain } = batch
    const signerId = ref === undefined ? chain.publisherId : this.#modules.delegations.get(ref)?.delegateId
    if (signerId !== undefined) signatures.add(batch, signerId, signal)
  }

  /** At once where all is known. Rejects with what the registry throws. */
  check(batch: MessageBatch, signatures?: SignaturesAhead): Verdict | Promise<Verdict> {
    return after(this.#rest(), () => this.#verdictOf(batch, signatures))
  }

  /** When checking may go on, if it has gone on for long enough. */
  #rest(): Promise<void> | undefined {
    const { clock } = this.#modules
    if (this.#turnBeganMs === undefined) {
      this.#turnBeganMs = clock.monotonicMs()
      clock.endOfTurn(() => (this.#turnBeganMs = undefined))
      return undefined
    }
    if (clock.monotonicMs() - this.#turnBeganMs <= maxTurnMs) return undefined
    return new Promise((resolve) => clock.endOfTurn(resolve))
  }

  #verdictOf(batch: MessageBatch, signatures: SignaturesAhead | undefined): Verdict | Promise<Verdict> {
    const { clock, delegations } = this.#modules
    const { delegationRef: ref } = batch
    const delegation = ref === undefined ? undefined : delegations.get(ref)
    if (delegation !== undefined && delegations.isOfOtherChain(delegation)) return 'denied'
    const newestMs = batch.messages.at(-1)?.timestamp ?? 0
    const aheadMs = newestMs - clock.now()
    // An honest storage node took it when it was as far ahead of its own clock at most, which may be as far ahead of this one.
    if (aheadMs > 2 * maxAheadMs) return 'forged'
    return after(this.#isSigned(batch, delegation, signatures), (isSigned) => {
      if (!isSigned) return 'forged'
      return aheadMs > maxAheadMs ? 'denied' : this.#permissionOf(batch, newestMs, delegation)
    })
  }

  #permissionOf(
    batch: MessageBatch,
    newestMs: number,
    delegation: Delegation | undefined,
  ): Verdict | Promise<Verdict> {
    const { clock, policy } = this.#modules
    const { streamId, partition, publisherId } = batch.chain
    const scope = permissionScope(streamId, partition)
    const oldestMs = batch.messages[0]?.timestamp
    const check = () => policy.check(scope, publisherId, newestMs, oldestMs)
    const then = answerOf(check, () => policy.resolve(scope, publisherId))
    // A key may also sign what it dates back to before its delegation was taken back.
    const today = () => policy.check(scope, publisherId, clock.now(), undefined, delegation)
    const now = () => answerOf(today, () => policy.resolve(scope, publisherId, undefined, delegation))
    const verdict = () => after(now(), (is): Verdict => (is === 'allowed' ? 'good' : 'doubtful'))
    return after(then, (was) => {
      if (was !== 'allowed') return 'denied'
      if (delegation === undefined) return verdict()
      return this.#modules.endings
        .validUntilMs(delegation)
        .then((untilMs) => (newestMs >= untilMs ? 'denied' : verdict()))
    })
  }

  /** By its publisher, or by a delegate that was let at the time of each message. */
  #isSigned(
    batch: MessageBatch,
    delegation: Delegation | undefined,
    signatures: SignaturesAhead | undefined,
  ): boolean | Promise<boolean> {
    const { crypto, delegations } = this.#modules
    const signerId = requiredSigner(batch, delegation, delegations)
    if (signerId === undefined) return false
    return signatures?.isSigned(batch, signerId) ?? verifyBatch(batch, crypto, signerId)
  }
}

/** What follows from a value, at once when it is there. */
function after<T, R>(value: T | Promise<T>, then: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(then) : then(value)
}
