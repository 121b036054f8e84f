import {
  boundsProblem,
  delegationTypedData,
  encodeDelegation,
  isSignedByKey,
  loadCrypto,
  toNodeId,
  type Clock,
  type Crypto,
  type Delegation,
  type DelegationClaim,
  type NodeId,
  type StreamId,
} from '@runnel/protocol'
import { systemClock } from '@runnel/protocol/system'
import { clientError } from '../errors.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import type { Signer } from './signer.ts'

/**
 * A delegation begins this much before it is asked for: clocks of others may be behind, and messages a little older. Not where its user
 * ended what began then.
 */
const backdatedMs = 10 * 60_000

/** What a user is asked to let a key do. */
export interface DelegationWish {
  /** Of the chain with the network's registries; 0 where they are on none. */
  readonly chainId: number
  /** The streams it is for; all of them when there are none. */
  readonly streams: readonly StreamId[]
  readonly publishes: boolean
  readonly reads: boolean
  /** How long it is to last from now on: at most 92 days for all streams, 366 for named ones. */
  readonly lastsMs: number
  /** Who asks, as the user is shown it: the origin of a page, or the name of a program. */
  readonly requester: string
}

/** What must be known of accounts on the chain. */
export interface AccountsOnChain {
  /** The chain's newest block when there is a contract at the address, whose owners sign for it (ERC-1271); else 0. */
  contractBlock(address: NodeId): Promise<number>
}

/** Where the network has no chain, all users are keys. */
export const keysOnly: AccountsOnChain = { contractBlock: () => Promise.resolve(0) }

export interface RequestModules {
  /** Of the chain that the network's registries are on. Default: no user is a contract. */
  readonly accounts?: AccountsOnChain | undefined
  /** Where it is asked what the user took back. Default: nowhere. */
  readonly delegations?: DelegationChecks | undefined
  readonly crypto?: Crypto | undefined
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Asks a signer's user to let a key act for it. Of a contract's signature is known only here that it came from the signer: the chain
 * knows whether the contract backs it. Throws what signers throw, what the chain throws, DELEGATION_TOO_LONG, DELEGATION_TOO_BROAD or
 * what else no delegation can say, before anybody is asked; SIGNER_OTHER_ACCOUNT when somebody else signed, SIGNER_FAILED when nobody did.
 */
export async function requestDelegation(
  signer: Signer,
  delegateId: NodeId,
  wish: DelegationWish,
  modules: RequestModules = {},
  signal?: AbortSignal,
): Promise<Delegation> {
  const { accounts = keysOnly, crypto = await loadCrypto(), clock = systemClock } = modules
  const userId = toNodeId(await signer.address(signal))
  const block = await accounts.contractBlock(userId)
  const { lastsMs, ...rights } = wish
  const nowMs = clock.now()
  const times = { fromMs: Math.max(0, nowMs - backdatedMs), untilMs: nowMs + lastsMs }
  const early: DelegationClaim = { ...rights, ...times, userId, delegateId, block }
  checkClaim(early)
  const isEnded = await hasEnded(early, modules.delegations)
  const claim = isEnded ? { ...early, fromMs: nowMs } : early
  const answer = await signer.signTypedData(delegationTypedData(claim), signal)
  const signature = bytesOfHex(answer)
  if (signature === undefined) throw clientError('SIGNER_FAILED', 'it gave no signature')
  return signedBy(claim, signature, crypto)
}

/** Whether the user ended all that began at the time of the claim, as it may have done a moment ago. */
async function hasEnded(claim: DelegationClaim, delegations: DelegationChecks | undefined): Promise<boolean> {
  // No contract is asked: there is no signature yet.
  const unsigned = { ...claim, block: 0, signature: new Uint8Array() }
  await delegations?.resolve(unsigned)
  return delegations?.check(unsigned) === 'denied'
}

/** Throws for what nobody would take, so that nobody is asked for it. */
function checkClaim(claim: DelegationClaim): void {
  encodeDelegation({ ...claim, signature: new Uint8Array(65) })
  const problem = boundsProblem(claim)
  if (problem !== undefined) throw problem
}

function signedBy(claim: DelegationClaim, answer: Uint8Array, crypto: Crypto): Delegation {
  const byKey = { ...claim, signature: withParity(answer) }
  if (isSignedByKey(byKey, crypto)) return byKey
  if (claim.block === 0) throw clientError('SIGNER_OTHER_ACCOUNT', `it should be ${claim.userId}`)
  const byContract = { ...claim, signature: answer }
  // Throws for one that is longer than anybody takes.
  encodeDelegation(byContract)
  return byContract
}

/** Signers of Ethereum end a key's signature with 27 or 28, this protocol with 0 or 1. */
function withParity(signature: Uint8Array): Uint8Array {
  const last = signature[64]
  if (signature.length !== 65 || (last !== 27 && last !== 28)) return signature
  return signature.with(64, last - 27)
}
