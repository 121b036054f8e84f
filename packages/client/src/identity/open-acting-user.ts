import {
  createIdentity,
  decodeDelegation,
  delegationProblem,
  isSignedByKey,
  parsePrivateKey,
  protocolError,
  signDelegation,
  type Clock,
  type Crypto,
  type Delegation,
  type Identity,
} from '@runnel/protocol'
import type { ParsedClientConfig } from '../config.ts'
import { clientError } from '../errors.ts'
import { ActingUser, ownDelegationMs } from './acting-user.ts'
import { askDelegation } from './ask-delegation.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import type { Signer } from './signer.ts'

export interface ActingUserContext {
  /** Of this process. */
  readonly node: Identity
  /** Of the registries; 0 where they are on no chain. */
  readonly chainId: number
  readonly crypto: Crypto
  readonly clock: Clock
}

/** By how much a delegation that a process signs for itself begins in the past: clocks of others may be slow. */
const slowClockMs = 3_600_000

/**
 * In whose name the client of this configuration acts: its key's, its delegation's, its signer's, or its node's own. Throws
 * INVALID_KEY, INVALID_CONFIG, a DELEGATION_ code, and what a signer throws.
 */
export async function openActingUser(
  config: Pick<ParsedClientConfig, 'privateKey' | 'delegation' | 'signer' | 'delegationRequest'>,
  context: ActingUserContext,
): Promise<ActingUser> {
  const { privateKey, delegation, signer } = config
  if (delegation !== undefined) return delegated(delegation, context)
  if (signer !== undefined) return signedElsewhere(signer, config.delegationRequest, context)
  if (privateKey !== undefined) {
    const key = createIdentity(parsePrivateKey(privateKey), context.crypto)
    if (key.nodeId !== context.node.nodeId) return withKey(key, context)
  }
  return own(context)
}

/** The node is its user. */
function own({ node, chainId, ...modules }: ActingUserContext): ActingUser {
  return new ActingUser({ nodeId: node.nodeId, userId: node.nodeId, chainId, key: node, delegate: node }, modules)
}

function withKey(key: Identity, { node, chainId, ...modules }: ActingUserContext): ActingUser {
  const { nodeId } = node
  const renew = (): Delegation => {
    const nowMs = modules.clock.now()
    const claim = {
      ...{ chainId, userId: key.nodeId, delegateId: nodeId },
      ...{ fromMs: nowMs - slowClockMs, untilMs: nowMs + ownDelegationMs },
      ...{ publishes: true, reads: true, streams: [], requester: 'the user itself', block: 0 },
    }
    return signDelegation(claim, modules.crypto, key)
  }
  const delegation = renew()
  return new ActingUser(
    { nodeId, userId: key.nodeId, chainId, key, delegate: node, delegation, renew },
    modules,
  )
}

function delegated(
  { privateKey, delegation: hex }: NonNullable<ParsedClientConfig['delegation']>,
  { node, chainId, ...modules }: ActingUserContext,
): ActingUser {
  const delegate = createIdentity(parsePrivateKey(privateKey), modules.crypto)
  const bytes = bytesOfHex(hex)
  if (bytes === undefined) throw clientError('INVALID_CONFIG', 'delegation.delegation: no hexadecimal digits')
  const delegation = decodeDelegation(bytes)
  if (delegation.delegateId !== delegate.nodeId)
    throw protocolError('DELEGATION_NOT_YOURS', `it lets ${delegation.delegateId} act, the key is ${delegate.nodeId}`)
  requireGood(delegation, chainId, modules)
  const { userId } = delegation
  return new ActingUser({ nodeId: node.nodeId, userId, chainId, delegate, delegation }, modules)
}

async function signedElsewhere(
  signer: Signer,
  request: ParsedClientConfig['delegationRequest'],
  { node, chainId, ...modules }: ActingUserContext,
): Promise<ActingUser> {
  const { nodeId } = node
  const ask = async (): Promise<Delegation> => {
    const delegation = await askDelegation(signer, { chainId, delegateId: nodeId, request }, modules)
    requireGood(delegation, chainId, modules)
    return delegation
  }
  const delegation = await ask()
  const { userId } = delegation
  const renew = signer.isSilent === true ? ask : undefined
  return new ActingUser({ nodeId, userId, chainId, delegate: node, delegation, renew }, modules)
}

/** As others will check it, to say it at once. */
function requireGood(
  delegation: Delegation,
  chainId: number,
  { crypto, clock }: Pick<ActingUserContext, 'crypto' | 'clock'>,
): void {
  const problem = delegationProblem(delegation, { chainId, wallMs: clock.now() })
  if (problem !== undefined) throw problem
  if (delegation.block === 0 && !isSignedByKey(delegation, crypto))
    throw protocolError('DELEGATION_FORGED', `of ${delegation.userId}`)
}
