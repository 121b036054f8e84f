import type { Identity } from '../crypto/identity.ts'
import { protocolError, type ProtocolErrorCode, type RunnelError } from '../errors.ts'
import { nodeIdFromBytes, type NodeId } from '../ids/node-id.ts'
import {
  isKeyPart,
  permissionScope,
  streamOfScope,
  type PermissionScope,
  type StreamId,
} from '../ids/stream-id.ts'
import { limits } from '../limits.ts'
import type { MessageBatch } from '../messages/stream-message.ts'
import type { Crypto } from '../ports.ts'
import { delegationRefBytes, refOfBytes, type DelegationRef } from './delegation-ref.ts'
import type { Delegation, DelegationClaim } from './delegation.ts'
import { delegationDigest } from './typed-data.ts'

/** How far ahead of one's own clock a delegation may begin: clocks differ. */
export const delegationToleranceMs = 5 * 60_000

/** The first 16 bytes of the hash of its bytes: nobody finds two delegations with one reference. */
export function delegationRef(bytes: Uint8Array, crypto: Crypto): DelegationRef {
  return refOfBytes(crypto.keccak256(bytes).subarray(0, delegationRefBytes))
}

/** Signs a claim as its user, which the identity must be. */
export function signDelegation(
  claim: DelegationClaim,
  crypto: Crypto,
  identity: Pick<Identity, 'sign'>,
): Delegation {
  return { ...claim, signature: identity.sign(delegationDigest(claim, crypto)) }
}

/**
 * What is wrong with a delegation now: DELEGATION_OTHER_CHAIN, DELEGATION_TOO_LONG, DELEGATION_TOO_BROAD, DELEGATION_NOT_YET or
 * DELEGATION_EXPIRED; undefined when nothing. `chainId` undefined: any chain will do. Whether its user signed it is for
 * `isSignedByKey`, and where that says no, for the user's contract.
 */
export function delegationProblem(
  claim: DelegationClaim,
  { chainId, wallMs }: { readonly chainId: number | undefined; readonly wallMs: number },
): RunnelError<ProtocolErrorCode> | undefined {
  if (chainId !== undefined && claim.chainId !== chainId)
    return protocolError('DELEGATION_OTHER_CHAIN', `it is for chain ${claim.chainId}, this is ${chainId}`)
  const bounds = boundsProblem(claim)
  if (bounds !== undefined) return bounds
  if (claim.fromMs > wallMs + delegationToleranceMs)
    return protocolError('DELEGATION_NOT_YET', `it begins ${dateOf(claim.fromMs)}`)
  return claim.untilMs <= wallMs ? protocolError('DELEGATION_EXPIRED', dateOf(claim.untilMs)) : undefined
}

/** DELEGATION_TOO_LONG or DELEGATION_TOO_BROAD, at any time; undefined when it is within bounds. */
export function boundsProblem(claim: DelegationClaim): RunnelError<ProtocolErrorCode> | undefined {
  const { maxDelegationMs, maxBroadDelegationMs } = limits
  const lastsMs = claim.untilMs - claim.fromMs
  if (lastsMs > maxDelegationMs) return protocolError('DELEGATION_TOO_LONG', `${daysOf(lastsMs)} days`)
  return claim.streams.length === 0 && lastsMs > maxBroadDelegationMs
    ? protocolError('DELEGATION_TOO_BROAD', `all streams for ${daysOf(lastsMs)} days`)
    : undefined
}

/** True when the user's own key signed it. False says nothing where the user is a contract. Never throws. */
export function isSignedByKey(delegation: Delegation, crypto: Crypto): boolean {
  if (delegation.signature.length !== 65) return false
  const { userId, signature } = delegation
  const address = crypto.recover(delegationDigest(delegation, crypto), signature, userId)
  return address !== undefined && nodeIdFromBytes(address) === userId
}

/** Whether it is about a stream. */
export function isForStream({ streams }: DelegationClaim, streamId: StreamId): boolean {
  return streams.length === 0 || streams.includes(streamId)
}

/** What a delegation lets a process do with a stream. */
export type DelegatedRight = 'publishes' | 'reads'

/** Whether it lets the delegate do something in a stream; in the key part, where publishers and readers do both, either right will do. */
export function allows(claim: DelegationClaim, right: DelegatedRight, scope: PermissionScope): boolean {
  return (claim[right] || isKeyPart(scope)) && isForStream(claim, streamOfScope(scope))
}

/**
 * Whether the delegate may have signed a batch for the user: it may publish to that stream, and was let at the time of each message.
 * Nothing is said of signatures.
 */
export function coversBatch(claim: DelegationClaim, { chain, messages }: MessageBatch): boolean {
  const scope = permissionScope(chain.streamId, chain.partition)
  const isFor = claim.userId === chain.publisherId && allows(claim, 'publishes', scope)
  return isFor && messages.every(({ timestamp }) => claim.fromMs <= timestamp && timestamp < claim.untilMs)
}

/**
 * Whose key must have signed a batch: its publisher's, or that of the delegate under the delegation it names. Undefined if that delegation is not
 * known (`delegation`), does not cover the batch, or is not signed by its user.
 */
export function requiredSigner(
  batch: MessageBatch,
  delegation: Delegation | undefined,
  delegations: { isGood(ref: DelegationRef): boolean },
): NodeId | undefined {
  const { delegationRef: ref, chain } = batch
  if (ref === undefined) return chain.publisherId
  if (delegation === undefined || !coversBatch(delegation, batch) || !delegations.isGood(ref))
    return undefined
  return delegation.delegateId
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString()
}

function daysOf(ms: number): number {
  return Math.ceil(ms / 86_400_000)
}
