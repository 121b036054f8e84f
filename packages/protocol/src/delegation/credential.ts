import { protocolError } from '../errors.ts'
import type { NodeId } from '../ids/node-id.ts'
import type { PermissionScope } from '../ids/stream-id.ts'
import type { AccessToken } from '../messages/packets/membership.ts'
import type { Crypto } from '../ports.ts'
import { verifyMembership } from '../signing/membership.ts'
import { allows, delegationProblem, isSignedByKey, type DelegatedRight } from './check-delegation.ts'
import type { Delegation } from './delegation.ts'

/** With what a node proves for whom it acts. */
export interface Credential {
  readonly delegation: Delegation
  /** Where the node's key is not the delegate: the delegate's leave for the node to act for it. */
  readonly token?: AccessToken | undefined
}

/** For whom a peer acts, as it proved on its link. */
export interface ActingFor {
  readonly userId: NodeId
  readonly delegation: Delegation
  /** Until when, in Unix milliseconds. */
  readonly untilMs: number
  /** False: the user has another key than signed, and is a contract that agrees, or not; its chain knows. */
  readonly isKeySigned: boolean
}

/**
 * For whom a node acts that shows a credential. Throws DELEGATION_OTHER_CHAIN, DELEGATION_TOO_LONG, DELEGATION_TOO_BROAD,
 * DELEGATION_NOT_YET, DELEGATION_EXPIRED, DELEGATION_FORGED or DELEGATION_NOT_YOURS.
 */
export function checkCredential(
  { delegation, token }: Credential,
  {
    nodeId,
    ...at
  }: { readonly nodeId: NodeId; readonly chainId: number | undefined; readonly wallMs: number },
  crypto: Crypto,
): ActingFor {
  const problem = delegationProblem(delegation, at)
  if (problem !== undefined) throw problem
  const { userId, delegateId, untilMs } = delegation
  const mayAct =
    token === undefined
      ? delegateId === nodeId
      : token.userId === delegateId && verifyMembership(token, nodeId, at.wallMs, crypto)
  if (!mayAct)
    throw protocolError('DELEGATION_NOT_YOURS', `it lets ${delegateId} act, which this node is not`)
  const isKeySigned = isSignedByKey(delegation, crypto)
  if (!isKeySigned && delegation.block === 0) throw protocolError('DELEGATION_FORGED', `of ${userId}`)
  return { userId, delegation, untilMs: Math.min(untilMs, token?.expiresMs ?? Infinity), isKeySigned }
}

/**
 * For how many milliseconds from now a peer's delegation lets it do something in a stream; 0 or less: not at all. Infinity without one,
 * as it is the user, or has its token.
 */
export function actsForMs(
  acting: ActingFor | undefined,
  right: DelegatedRight,
  scope: PermissionScope,
  wallMs: number,
): number {
  if (acting === undefined) return Infinity
  const { delegation, untilMs } = acting
  return allows(delegation, right, scope) ? untilMs - wallMs : 0
}
