import { toNodeId, type Delegation, type NodeId } from '@runnel/protocol'
import { VirtualClock } from '@runnel/transport'
import type { DelegationRegistryReader } from './ports.ts'
import { RegistryDelegations } from './registry-delegations.ts'

/** A node id made of a number. */
export const nodeIdOf = (n: number): NodeId => toNodeId(`0x${n.toString(16).padStart(40, '0')}`)

/** A delegation whose signature nobody checks. */
export function delegationOf(claim: Partial<Delegation> = {}): Delegation {
  return {
    ...{ chainId: 31337, userId: nodeIdOf(1), delegateId: nodeIdOf(2), fromMs: 1000, untilMs: 2000 },
    ...{ publishes: true, reads: true, streams: [], requester: '', block: 0, signature: new Uint8Array(65) },
    ...claim,
  }
}

/** A registry that says what the test has put in, and what it was asked. */
class FakeDelegationRegistry implements DelegationRegistryReader {
  readonly hasContracts = true
  readonly asked: string[] = []
  readonly revoked = new Map<NodeId, number>()
  /** What began until then is ended. */
  endedByMs = 0
  readonly backed = new Set<'now' | 'signed'>()
  isAway = false

  async revokedMs({ delegateId, fromMs }: Pick<Delegation, 'delegateId' | 'fromMs'>): Promise<number> {
    this.asked.push('revoked')
    if (this.isAway) throw new Error('away')
    if (fromMs <= this.endedByMs) return this.endedByMs
    return this.revoked.get(delegateId) ?? Infinity
  }

  async isBacked(_: Delegation, at: 'now' | 'signed'): Promise<boolean> {
    this.asked.push(at)
    if (this.isAway) throw new Error('away')
    return this.backed.has(at)
  }
}

/** What is known of delegations by such a registry. */
export function fakeDelegations(options: { maxEntries?: number; maxAgeMs?: number } = {}) {
  const clock = new VirtualClock()
  const registry = new FakeDelegationRegistry()
  const delegations = new RegistryDelegations(
    { maxEntries: 100, maxAgeMs: 1000, ...options },
    { clock, registry },
  )
  let changes = 0
  delegations.onChange = () => changes++
  return { clock, registry, delegations, changes: () => changes }
}
