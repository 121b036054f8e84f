import {
  protocolError,
  type Delegation,
  type NodeAdmission,
  type NodeId,
  type RunnelError,
} from '@runnel/protocol'
import type { DelegationChecks } from './registry-delegations.ts'

/**
 * Whose nodes the registry lets in, as far as is known. It is told which users are listed; about the delegations of their nodes it
 * asks.
 */
export class RegistryAdmission implements NodeAdmission {
  readonly #delegations: DelegationChecks
  #users: ReadonlySet<NodeId> | undefined
  readonly #asked = new WeakSet<Delegation>()
  readonly #listeners = new Set<() => void>()

  constructor(delegations: DelegationChecks) {
    this.#delegations = delegations
  }

  allows(userId: NodeId, delegation?: Delegation, cause?: string): boolean {
    // Nothing is asked for those who are not listed.
    if (this.#users?.has(userId) === false) return false
    if (delegation === undefined) return true
    const answer = this.#delegations.check(delegation)
    if (answer === 'unknown') void this.#ask(delegation, cause)
    return answer === 'allowed' || (answer === 'unknown' && isBelieved(delegation))
  }

  /** Why a user’s node may not take part: NODE_NOT_LISTED or DELEGATION_REVOKED; undefined when it may. */
  problemOf(userId: NodeId, delegation?: Delegation): RunnelError | undefined {
    if (this.allows(userId, delegation)) return undefined
    if (delegation === undefined || !this.allows(userId)) return protocolError('NODE_NOT_LISTED', userId)
    const orUnbacked = isBelieved(delegation) ? '' : `, or the contract ${userId} does not back it`
    return protocolError('DELEGATION_REVOKED', `that of ${delegation.delegateId}${orUnbacked}`)
  }

  /** Whether the network is private: open to nodes of listed users only. */
  get isPrivate(): boolean {
    return this.#users !== undefined
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The currently listed users; undefined in a network that is open to all. */
  setUsers(users: readonly NodeId[] | undefined): void {
    const before = this.#users
    this.#users = users && new Set(users)
    if (!isEqual(before, this.#users)) this.#tell()
  }

  /** Answers about delegations may be others than before. */
  delegationsChanged(): void {
    this.#tell()
  }

  async #ask(delegation: Delegation, cause: string | undefined): Promise<void> {
    if (this.#asked.has(delegation)) return
    this.#asked.add(delegation)
    try {
      await this.#delegations.resolve(delegation, cause)
    } catch {
      // It is asked again with the next question; that the chain is away is said by its health.
      return
    } finally {
      this.#asked.delete(delegation)
    }
    const isAllowed = this.#delegations.check(delegation) === 'allowed'
    if (isAllowed !== isBelieved(delegation)) this.#tell()
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}

/** What goes for a delegation of which nothing is known: the user's key signed it; a contract has to be asked first. */
function isBelieved({ block }: Delegation): boolean {
  return block === 0
}

function isEqual(a: ReadonlySet<NodeId> | undefined, b: ReadonlySet<NodeId> | undefined): boolean {
  return (
    a?.size === b?.size && (a === undefined || b === undefined || [...a].every((nodeId) => b.has(nodeId)))
  )
}
