import {
  boundsProblem,
  delegationTypedData,
  toNodeId,
  toStreamId,
  type Clock,
  type Delegation,
  type DelegationClaim,
  type NodeId,
} from '@runnel/protocol'
import type { ParsedClientConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import type { Signer } from './signer.ts'

/** A message may be this much older than the delegation under which it is signed: older ones are not live. */
export const backdatedMs = 10 * 60_000

export interface DelegationQuestion {
  readonly chainId: number
  /** The key that is to act for the user. */
  readonly delegateId: NodeId
  readonly request: ParsedClientConfig['delegationRequest']
}

/**
 * Has a user's signer sign a delegation. Throws what the signer throws, SIGNER_FAILED where it gives no
 * signature, and DELEGATION_TOO_LONG or DELEGATION_TOO_BROAD before it is asked.
 */
export async function askDelegation(
  signer: Signer,
  { chainId, delegateId, request }: DelegationQuestion,
  { clock }: { readonly clock: Clock },
): Promise<Delegation> {
  const nowMs = clock.now()
  const claim: DelegationClaim = {
    ...{ chainId, delegateId, block: 0 },
    userId: toNodeId(await signer.address()),
    fromMs: nowMs - backdatedMs,
    untilMs: nowMs + request.lastsMs,
    publishes: request.publishes,
    reads: request.reads,
    streams: request.streams.map(toStreamId),
    requester: request.requester,
  }
  const problem = boundsProblem(claim)
  if (problem !== undefined) throw problem
  return { ...claim, signature: signatureOf(await signer.signTypedData(delegationTypedData(claim))) }
}

/** Signers of Ethereum count the last byte from 27 on, batches and delegations from 0. */
function signatureOf(hex: string): Uint8Array {
  const signature = bytesOfHex(hex)
  if (signature === undefined) throw clientError('SIGNER_FAILED', 'it gave no signature')
  const last = signature[64] ?? 0
  if (signature.length === 65 && last >= 27) signature[64] = last - 27
  return signature
}
