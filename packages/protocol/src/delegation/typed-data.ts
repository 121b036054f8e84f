import type { Crypto } from '../ports.ts'
import { signedAt, typedDataDigest, typedDataOf, type TypedData } from '../signing/typed-data.ts'
import type { DelegationClaim } from './delegation.ts'

const delegationKind = {
  primaryType: 'Delegation',
  fields: [
    { name: 'purpose', type: 'string' },
    { name: 'account', type: 'address' },
    { name: 'delegate', type: 'address' },
    { name: 'may', type: 'string' },
    { name: 'streams', type: 'string' },
    { name: 'askedBy', type: 'string' },
    { name: 'from', type: 'string' },
    { name: 'until', type: 'string' },
  ],
} as const

/** What the user signs; made from the claim in one way only. */
export function delegationTypedData(claim: DelegationClaim): TypedData {
  const { block, fromMs, untilMs, streams, publishes, reads } = claim
  const rights = [publishes && 'publish', reads && 'read'].filter((right) => right !== false)
  return typedDataOf(delegationKind, claim.chainId, {
    purpose:
      'Let the key of a page or program act for this account on the Runnel network. It moves no money.',
    account: claim.userId,
    delegate: claim.delegateId,
    may: rights.join(' and '),
    streams: streams.length === 0 ? 'all streams' : streams.join(', '),
    askedBy: claim.requester,
    from: signedAt(fromMs, block),
    until: new Date(untilMs).toISOString(),
  })
}

/** The 32 bytes that the user signs. */
export function delegationDigest(claim: DelegationClaim, crypto: Crypto): Uint8Array {
  return typedDataDigest(delegationTypedData(claim), crypto)
}
