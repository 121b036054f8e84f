import {
  boundsProblem,
  createIdentity,
  delegationRef,
  encodeDelegation,
  generatePrivateKey,
  isSignedByKey,
  loadCrypto,
  seededRandom,
  signDelegation,
  type Delegation,
  type DelegationClaim,
  type DelegationRef,
  type Identity,
} from '@runnel/protocol'
import type { NodeDelegations } from '@runnel/network'

const crypto = await loadCrypto()

/** Someone with a key of its own, the same each time. */
export function identityOf(name: string): Identity {
  return createIdentity(generatePrivateKey(seededRandom(name)), crypto)
}

/** A user's delegation to another key, of everything for a while around 1970 unless said otherwise. */
export function delegationFrom(
  user: Identity,
  delegate: Identity,
  changes: Partial<DelegationClaim> = {},
): Delegation {
  const claim = {
    ...{ chainId: 1, userId: user.nodeId, delegateId: delegate.nodeId, fromMs: 0, untilMs: 86_400_000 },
    ...{ publishes: true, reads: true, streams: [], requester: 'test', block: 0 },
  }
  return signDelegation({ ...claim, ...changes }, crypto, user)
}

export function refOf(delegation: Delegation): DelegationRef {
  return delegationRef(encodeDelegation(delegation), crypto)
}

/** Stands where a node keeps the delegations that it knows. */
export class TestDelegations implements NodeDelegations {
  readonly known = new Map<DelegationRef, Delegation>()

  get = (ref: DelegationRef): Delegation | undefined => this.known.get(ref)
  isOfOtherChain = ({ chainId }: Delegation): boolean => chainId !== 1
  isGood = (ref: DelegationRef): boolean => {
    const delegation = this.known.get(ref)
    return (
      delegation !== undefined && boundsProblem(delegation) === undefined && isSignedByKey(delegation, crypto)
    )
  }
  add = (delegation: Delegation): DelegationRef => {
    const ref = refOf(delegation)
    this.known.set(ref, delegation)
    return ref
  }
}
