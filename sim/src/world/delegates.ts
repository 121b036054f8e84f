import {
  delegationDigest,
  delegationRef,
  encodeDelegation,
  signDelegation,
  type BatchSigner,
  type Crypto,
  type Delegation,
  type DelegationClaim,
  type Identity,
  type NodeId,
} from '@runnel/protocol'
import type { Acting } from '@runnel/transport'

const dayMs = 86_400_000

/** Lets a key do all that its user may, for a day. */
export function delegationTo(delegateId: NodeId, user: Identity, crypto: Crypto, fromMs: number): Delegation {
  const claim: DelegationClaim = {
    ...{ chainId: 0, userId: user.nodeId, delegateId, fromMs, untilMs: fromMs + dayMs },
    ...{ publishes: true, reads: true, streams: [], requester: 'https://sim.example', block: 0 },
  }
  return signDelegation(claim, crypto, user)
}

/** What a node shows that acts under a delegation. */
export function actingUnder(delegation: Delegation): Acting {
  const credential = { delegation }
  return { chainId: undefined, credential: () => credential, onChange: () => () => undefined }
}

/** The delegate of a delegation as the signer of batches. */
export function delegatedSigner(delegate: Identity, delegation: Delegation, crypto: Crypto): BatchSigner {
  return { ...delegate, delegationRef: delegationRef(encodeDelegation(delegation), crypto) }
}

/** Counts how often each node recovers the signer of each delegation. */
export class DelegationChecks {
  readonly #delegations = new Set<string>()
  readonly #checks = new Map<string, number>()

  expect(delegation: Delegation, crypto: Crypto): void {
    this.#delegations.add(textOf(delegationDigest(delegation, crypto)))
  }

  tap(nodeId: NodeId, crypto: Crypto): Crypto {
    const recover: Crypto['recover'] = (digest, signature, expected) => {
      const text = textOf(digest)
      const key = `${nodeId} ${text}`
      if (this.#delegations.has(text)) this.#checks.set(key, (this.#checks.get(key) ?? 0) + 1)
      return crypto.recover(digest, signature, expected)
    }
    return { ...crypto, recover }
  }

  /** By all nodes together. */
  get count(): number {
    return [...this.#checks.values()].reduce((sum, checks) => sum + checks, 0)
  }

  /** Of one delegation by one node. */
  get most(): number {
    return [...this.#checks.values()].reduce((most, checks) => Math.max(most, checks), 0)
  }
}

function textOf(digest: Uint8Array): string {
  return Buffer.from(digest).toString('latin1')
}
