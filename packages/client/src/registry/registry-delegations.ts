import { decodeDelegation, encodeDelegation, toNodeId, type Clock, type Delegation } from '@runnel/protocol'
import { LookupCache, type LookupCacheOptions } from './lookup-cache.ts'
import type { DelegationRegistryReader, RegistryChange } from './ports.ts'

/** Answers of contract accounts kept, each with a whole delegation. */
const maxContractAnswers = 1_000

interface Ending {
  readonly revokedMs: number
}

interface Backing {
  readonly isBacked: boolean
}

/** Which delegation a revocation is about; its other fields do not matter to the registry. */
const endingKey = ({ userId, delegateId, fromMs }: Delegation) => `${userId} ${delegateId} ${fromMs}`

function partsOf(key: string) {
  const [userId = '', delegateId = '', fromMs] = key.split(' ')
  return { userId, delegateId, fromMs: Number(fromMs) }
}

/** Whether a change is about a delegation. */
function isEnded(
  { userId, delegateId, fromMs }: ReturnType<typeof partsOf>,
  change: RegistryChange & { kind: 'delegations' },
): boolean {
  if (userId !== change.userId) return false
  return 'delegateId' in change ? delegateId === change.delegateId : fromMs <= change.begunByMs
}

/**
 * What the registry says of delegations, remembered until it changes: whether the user took one back, and where the user is a
 * contract, whether it backs the signature. Whoever asks has checked bounds, and the signature of a user with a key.
 */
export class RegistryDelegations {
  /** Called when answers that were given may be others now. */
  onChange: () => void = () => {}
  readonly #registry: DelegationRegistryReader
  /** Anybody can sign delegations without end: so these are shared out by who causes the look-ups. */
  readonly #endings: LookupCache<string, Ending>
  readonly #backings: LookupCache<string, Backing>
  /** The bytes of delegations of contracts, a character each: they are the keys of `#backings`. */
  readonly #encoded = new WeakMap<Delegation, string>()

  constructor(
    options: LookupCacheOptions,
    { clock, registry }: { readonly clock: Clock; readonly registry: DelegationRegistryReader },
  ) {
    this.#registry = registry
    this.#endings = new LookupCache(
      { ...options, maxDenials: options.maxEntries },
      {
        clock,
        isDenial: () => true,
        load: async (key) => {
          const { userId, delegateId, fromMs } = partsOf(key)
          const delegation = { userId: toNodeId(userId), delegateId: toNodeId(delegateId), fromMs }
          return { revokedMs: await registry.revokedMs(delegation) }
        },
        onReplaced: (before, { revokedMs }) => before.revokedMs !== revokedMs && this.onChange(),
      },
    )
    const maxEntries = Math.min(options.maxEntries, maxContractAnswers)
    this.#backings = new LookupCache(
      { ...options, maxEntries, maxDenials: maxEntries },
      {
        clock,
        isDenial: () => true,
        load: async (key) => {
          const at = key.startsWith('now ') ? 'now' : 'signed'
          const encoded = key.slice(at.length + 1)
          const delegation = decodeDelegation(Uint8Array.from(encoded, (char) => char.charCodeAt(0)))
          return { isBacked: await registry.isBacked(delegation, at) }
        },
        onReplaced: (before, { isBacked }) => before.isBacked !== isBacked && this.onChange(),
      },
    )
  }

  /** Whether it holds now; at once and cheap. 'unknown' until `resolve` has found out. */
  check(delegation: Delegation): 'allowed' | 'denied' | 'unknown' {
    const revokedMs = this.revokedMs(delegation)
    const isBacked = this.#isBacked(delegation)
    if (isBacked === false || (revokedMs !== undefined && revokedMs < Infinity)) return 'denied'
    return isBacked === undefined || revokedMs === undefined ? 'unknown' : 'allowed'
  }

  /**
   * Finds out; afterwards `check` and `revokedMs` know. `cause` is who makes us ask. Throws what the registry throws when nothing is
   * known, and CONTRACT_NEEDS_CHAIN.
   */
  async resolve(delegation: Delegation, cause?: string): Promise<void> {
    const asked: Promise<unknown>[] = [this.#endings.get(endingKey(delegation), cause)]
    if (isOfContract(delegation)) asked.push(this.#backings.get(this.#backingKey('now', delegation), cause))
    await Promise.all(asked)
  }

  /** When its user took it back, in Unix milliseconds of the chain; Infinity where not; undefined when that is not known. */
  revokedMs(delegation: Delegation): number | undefined {
    return this.#endings.peek(endingKey(delegation))?.revokedMs
  }

  /**
   * For history: messages under it are valid whose timestamps are below this time, in Unix milliseconds. Infinity where it was not
   * taken back; 0 where the user is a contract that did not back it when it was signed. Throws as `resolve` does.
   */
  async validUntilMs(delegation: Delegation, cause?: string): Promise<number> {
    if (isOfContract(delegation)) {
      const { isBacked } = await this.#backings.get(this.#backingKey('signed', delegation), cause)
      if (!isBacked) return 0
    }
    const { revokedMs } = await this.#endings.get(endingKey(delegation), cause)
    return revokedMs
  }

  /** Forgets what a change made wrong. */
  apply(change: RegistryChange): void {
    if (change.kind === 'delegations') this.#endings.forget((key) => isEnded(partsOf(key), change))
    if (change.kind !== 'unknown') return
    this.#endings.forget(() => true)
    this.#backings.forget(() => true)
  }

  /** No event tells of a contract that backs a signature no longer: whoever goes by its answers has to look again. */
  get hasContractAnswers(): boolean {
    return this.#backings.size > 0
  }

  /** Sizes and losses, for metrics. */
  counters(): Readonly<Record<string, number>> {
    return {
      registryDelegationsCached: this.#endings.size,
      registryContractAnswersCached: this.#backings.size,
      registryDelegationsEvicted: this.#endings.evicted + this.#backings.evicted,
    }
  }

  /** True for users with a key, whose signature was checked. */
  #isBacked(delegation: Delegation): boolean | undefined {
    if (!isOfContract(delegation)) return true
    return this.#registry.hasContracts && this.#backings.peek(this.#backingKey('now', delegation))?.isBacked
  }

  #backingKey(at: 'now' | 'signed', delegation: Delegation): string {
    const known = this.#encoded.get(delegation)
    const encoded = known ?? String.fromCharCode(...encodeDelegation(delegation))
    if (known === undefined) this.#encoded.set(delegation, encoded)
    return `${at} ${encoded}`
  }
}

/** Checks of whether a delegation holds now. */
export type DelegationChecks = Pick<RegistryDelegations, 'check' | 'resolve'>

function isOfContract({ block }: Delegation): boolean {
  return block > 0
}
