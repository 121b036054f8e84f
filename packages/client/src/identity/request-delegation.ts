import {
  boundsProblem,
  delegationTypedData,
  encodeDelegation,
  isSignedByKey,
  loadCrypto,
  type Clock,
  type Crypto,
  type Delegation,
  type DelegationClaim,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import {
  keysOnly,
  requestSignature,
  signingUser,
  type AccountsOnChain,
  type Statement,
} from './request-signature.ts'
import type { Signer } from './signer.ts'

/**
 * A delegation begins this long before it is requested: others' clocks may be behind, and messages a little older. Not if its user
 * ended an earlier one that began then.
 */
const backdatedMs = 10 * 60_000

/** What to ask a user to allow a key to do. */
export interface DelegationWish {
  /** The id of the chain with the network's registries; 0 if they are on no chain. */
  readonly chainId: number
  /** The streams it is for; if empty, all streams. */
  readonly streams: readonly StreamId[]
  readonly publishes: boolean
  readonly reads: boolean
  /** How long it lasts from now on: at most 92 days for all streams, 366 for named streams. */
  readonly lastsMs: number
  /** Who asks, as shown to the user: the origin of a page, or the name of a program. */
  readonly requester: string
}

export interface RequestModules {
  /** The accounts of the chain with the network's registries. Default: no user is a contract. */
  readonly accounts?: AccountsOnChain | undefined
  /** Where to look up what the user revoked. Default: nowhere. */
  readonly delegations?: DelegationChecks | undefined
  readonly crypto?: Crypto | undefined
  readonly clock?: Pick<Clock, 'now'> | undefined
}

const statement: Statement<DelegationClaim> = {
  typedData: delegationTypedData,
  isSignedByKey,
  encode(delegation) {
    const bytes = encodeDelegation(delegation)
    const problem = boundsProblem(delegation)
    if (problem !== undefined) throw problem
    return bytes
  },
}

/**
 * Asks a signer's user to let a key act for it. Throws the errors of `requestSignature` and of the chain; and, before anybody is asked,
 * DELEGATION_TOO_LONG, DELEGATION_TOO_BROAD or other errors of a wish that no delegation can express.
 */
export async function requestDelegation(
  signer: Signer,
  delegateId: NodeId,
  wish: DelegationWish,
  { accounts = keysOnly, delegations, crypto, clock = systemClock }: RequestModules = {},
  signal?: AbortSignal,
): Promise<Delegation> {
  const user = await signingUser(signer, accounts, signal)
  const { lastsMs, ...rights } = wish
  const nowMs = clock.now()
  const times = { fromMs: Math.max(0, nowMs - backdatedMs), untilMs: nowMs + lastsMs }
  const early: DelegationClaim = { ...rights, ...times, ...user, delegateId }
  statement.encode({ ...early, signature: new Uint8Array(65) })
  const claim = (await hasEnded(early, delegations)) ? { ...early, fromMs: nowMs } : early
  return requestSignature(signer, statement, { claim, crypto: crypto ?? (await loadCrypto()), signal })
}

/** Whether the user ended all that began at the time of the claim, as it may have done a moment ago. */
async function hasEnded(claim: DelegationClaim, delegations: DelegationChecks | undefined): Promise<boolean> {
  // No contract is asked: there is no signature yet.
  const unsigned = { ...claim, block: 0, signature: new Uint8Array() }
  await delegations?.resolve(unsigned)
  return delegations?.check(unsigned) === 'denied'
}
