import {
  createIdentity,
  decodeDelegation,
  delegationProblem,
  isSignedByKey,
  parsePrivateKey,
  protocolError,
  signDelegation,
  toStreamId,
  type Ciphers,
  type Clock,
  type Crypto,
  type Delegation,
  type Identity,
  type Random,
} from '@runnel/protocol'
import type { DelegationConfig, ParsedClientConfig } from '../config.ts'
import { openReadingKeys, type ReadingUser } from '../encryption/open-reading-keys.ts'
import type { ReadingKeySource } from '../encryption/ports.ts'
import type { DelegationChecks } from '../registry/registry-delegations.ts'
import { ActingUser, ownDelegationMs, type ActingUserOptions } from './acting-user.ts'
import { bytesOfHex } from './bytes-of-hex.ts'
import { identitySigner } from './key-signer.ts'
import { requestDelegation } from './request-delegation.ts'
import type { AccountsOnChain } from './request-signature.ts'
import { openSession } from './session.ts'
import { readingKeysOf } from './session-reading-keys.ts'
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
  readonly ciphers: Ciphers
  readonly clock: Clock
  readonly random: Random
}

export interface ActingUserConfig extends Pick<
  ParsedClientConfig,
  'privateKey' | 'delegation' | 'delegationRequest' | 'readingKey'
> {
  /** Of the configured signer or wallet. */
  readonly signer: Signer | undefined
}

/**
 * In whose name the client of this configuration acts: its key's, its delegation's, its signer's, or its node's own. Throws
 * INVALID_KEY, a DELEGATION_ code, READING_KEY_NOT_YOURS, what decoding a delegation or a card throws, and what a signer throws.
 */
export async function openActingUser(
  config: ActingUserConfig,
  context: ActingUserContext,
): Promise<ActingUser> {
  const { privateKey, delegation, signer } = config
  const reading = (user: ReadingUser): ReadingKeySource => openReadingKeys(config.readingKey, user, context)
  if (delegation !== undefined) return byFile(delegation, reading, context)
  if (signer !== undefined) return signedElsewhere(signer, config.delegationRequest, reading, context)
  if (privateKey !== undefined) {
    const key = createIdentity(parsePrivateKey(privateKey), context.crypto)
    if (key.nodeId !== context.node.nodeId) return withKey(key, reading, context)
  }
  return own(reading, context)
}

type Reading = (user: ReadingUser) => ReadingKeySource

/** The node is its user. */
function own(reading: Reading, { node, chainId, crypto, clock }: ActingUserContext): ActingUser {
  const { nodeId } = node
  const readingKeys = reading({ userId: nodeId, signer: identitySigner(node, crypto) })
  const options = { nodeId, userId: nodeId, chainId, key: node, delegate: node, readingKeys }
  return new ActingUser(options, { crypto, clock })
}

function withKey(
  key: Identity,
  reading: Reading,
  { node, chainId, crypto, clock }: ActingUserContext,
): ActingUser {
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
  const readingKeys = reading({ userId, signer: identitySigner(key, crypto) })
  const options = { nodeId, userId, chainId, key, delegate: node, delegation: renew(), renew, readingKeys }
  return new ActingUser(options, { crypto, clock })
}

async function signedElsewhere(
  signer: Signer,
  request: ParsedClientConfig['delegationRequest'],
  reading: Reading,
  context: ActingUserContext,
): Promise<ActingUser> {
  const { chainId, crypto, sessions } = context
  const wish = { ...request, streams: request.streams.map(toStreamId), chainId }
  const session = await openSession(signer, wish, sessions, context)
  const { delegatePrivateKey, delegation } = session
  const delegate = createIdentity(parsePrivateKey(delegatePrivateKey), crypto)
  const renew = () => requestDelegation(signer, delegate.nodeId, wish, context)
  const { userId } = delegation
  return delegated(delegate, delegation, context, {
    readingKeys: reading({ userId, signer, kept: readingKeysOf(session, sessions) }),
    renew: signer.isSilent === true ? renew : undefined,
  })
}

function byFile(
  { privateKey, delegation: hex }: DelegationConfig,
  reading: Reading,
  context: ActingUserContext,
): ActingUser {
  const delegate = createIdentity(parsePrivateKey(privateKey), context.crypto)
  const delegation = decodeDelegation(bytesOfHex(hex) ?? new Uint8Array())
  return delegated(delegate, delegation, context, { readingKeys: reading({ userId: delegation.userId }) })
}

/** Checks the delegation as others will, to say at once what is wrong with it. */
function delegated(
  delegate: Identity,
  delegation: Delegation,
  { node, chainId, crypto, clock }: ActingUserContext,
  more: Pick<ActingUserOptions, 'readingKeys' | 'renew'>,
): ActingUser {
  const { userId, delegateId } = delegation
  if (delegateId !== delegate.nodeId)
    throw protocolError('DELEGATION_NOT_YOURS', `it lets ${delegateId} act, the key is ${delegate.nodeId}`)
  const problem = delegationProblem(delegation, { chainId, wallMs: clock.now() })
  if (problem !== undefined) throw problem
  if (delegation.block === 0 && !isSignedByKey(delegation, crypto))
    throw protocolError('DELEGATION_FORGED', `of ${userId}`)
  const options = { nodeId: node.nodeId, userId, chainId, delegate, delegation, ...more }
  return new ActingUser(options, { crypto, clock })
}
