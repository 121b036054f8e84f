import {
  createIdentity,
  decodeDelegation,
  delegationProblem,
  isSignedByKey,
  parsePrivateKey,
  protocolError,
  signDelegation,
  toStreamId,
  type Clock,
  type Crypto,
  type Delegation,
  type Identity,
  type Random,
} from '@runnel/protocol'
import type { DelegationConfig, ParsedClientConfig } from '../config.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import { ActingUser, ownDelegationMs } from './acting-user.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import { requestDelegation, type AccountsOnChain } from './request-delegation.ts'
import { openSession } from './session.ts'
import type { SessionStore } from './session-store.ts'
import type { Signer } from './signer.ts'

export interface ActingUserContext {
  /** Of this process. */
  readonly node: Identity
  /** Of the registries; 0 where they are on no chain. */
  readonly chainId: number
  /** Which users are contracts. */
  readonly accounts: AccountsOnChain
  /** Which delegations were taken back. */
  readonly delegations: DelegationChecks
  /** Where what a signer was asked for is kept. */
  readonly sessions: SessionStore
  readonly crypto: Crypto
  readonly clock: Clock
  readonly random: Random
}

export interface ActingUserConfig extends Pick<
  ParsedClientConfig,
  'privateKey' | 'delegation' | 'delegationRequest'
> {
  /** Of the configured signer or wallet. */
  readonly signer: Signer | undefined
}

/**
 * In whose name the client of this configuration acts: its key's, its delegation's, its signer's, or its node's own. Throws
 * INVALID_KEY, a DELEGATION_ code, what decoding a delegation throws, and what a signer throws.
 */
export async function openActingUser(
  config: ActingUserConfig,
  context: ActingUserContext,
): Promise<ActingUser> {
  const { privateKey, delegation, signer } = config
  if (delegation !== undefined) return byFile(delegation, context)
  if (signer !== undefined) return signedElsewhere(signer, config.delegationRequest, context)
  if (privateKey !== undefined) {
    const key = createIdentity(parsePrivateKey(privateKey), context.crypto)
    if (key.nodeId !== context.node.nodeId) return withKey(key, context)
  }
  return own(context)
}

/** The node is its user. */
function own({ node, chainId, crypto, clock }: ActingUserContext): ActingUser {
  const { nodeId } = node
  return new ActingUser({ nodeId, userId: nodeId, chainId, key: node, delegate: node }, { crypto, clock })
}

function withKey(key: Identity, { node, chainId, crypto, clock }: ActingUserContext): ActingUser {
  const { nodeId } = node
  const userId = key.nodeId
  // It begins no earlier than it is made, as the user may just have ended what began before: others let clocks differ.
  const renew = (notBeforeMs = 0): Delegation => {
    const fromMs = Math.max(clock.now(), notBeforeMs)
    const claim = {
      ...{ chainId, userId, delegateId: nodeId, block: 0 },
      ...{ fromMs, untilMs: fromMs + ownDelegationMs },
      ...{ publishes: true, reads: true, streams: [], requester: 'the user itself' },
    }
    return signDelegation(claim, crypto, key)
  }
  const options = { nodeId, userId, chainId, key, delegate: node, delegation: renew(), renew }
  return new ActingUser(options, { crypto, clock })
}

async function signedElsewhere(
  signer: Signer,
  request: ParsedClientConfig['delegationRequest'],
  context: ActingUserContext,
): Promise<ActingUser> {
  const wish = { ...request, streams: request.streams.map(toStreamId), chainId: context.chainId }
  const { delegatePrivateKey, delegation } = await openSession(signer, wish, context.sessions, context)
  const delegate = createIdentity(parsePrivateKey(delegatePrivateKey), context.crypto)
  const renew = () => requestDelegation(signer, delegate.nodeId, wish, context)
  return delegated(delegate, delegation, context, signer.isSilent === true ? renew : undefined)
}

function byFile({ privateKey, delegation: hex }: DelegationConfig, context: ActingUserContext): ActingUser {
  const delegate = createIdentity(parsePrivateKey(privateKey), context.crypto)
  return delegated(delegate, decodeDelegation(bytesOfHex(hex) ?? new Uint8Array()), context)
}

/** Checks the delegation as others will, to say at once what is wrong with it. */
function delegated(
  delegate: Identity,
  delegation: Delegation,
  { node, chainId, crypto, clock }: ActingUserContext,
  renew?: () => Promise<Delegation>,
): ActingUser {
  const { userId, delegateId } = delegation
  if (delegateId !== delegate.nodeId)
    throw protocolError('DELEGATION_NOT_YOURS', `it lets ${delegateId} act, the key is ${delegate.nodeId}`)
  const problem = delegationProblem(delegation, { chainId, wallMs: clock.now() })
  if (problem !== undefined) throw problem
  if (delegation.block === 0 && !isSignedByKey(delegation, crypto))
    throw protocolError('DELEGATION_FORGED', `of ${userId}`)
  const options = { nodeId: node.nodeId, userId, chainId, delegate, delegation, renew }
  return new ActingUser(options, { crypto, clock })
}
